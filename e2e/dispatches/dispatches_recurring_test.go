package dispatches

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A recurring dispatch calls for the items that it was given each time again, under
// webhook ids of their own, and tells how the last occurrence ended.
func TestARecurringDispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	m.r.On("/again", func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Header.Get("Wakecall-Business-Id") == "item-3" {
			w.WriteHeader(http.StatusGone)
		}
	})
	reply := m.env.Do("POST", "/v1/dispatches", testenv.JSON{
		"business_type": m.kind, "business_id": "again", "per_second": 50, "items": numbered(10),
		"callback": testenv.JSON{"url": m.r.URL + "/again"}, "recurrence": testenv.JSON{"after": "1s", "max_occurrences": 2},
	})
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	between := m.await("again", func(v dispatch.View) bool { return v.Last != nil })
	require.Equal(t, []any{2, 1, dispatch.DoneWithFailures, 9, 1},
		[]any{between.Occurrence, between.Last.Occurrence, between.Last.Status, between.Last.Done, between.Last.Failed})
	first := m.r.Calls("item-3")[0].Header.Get("webhook-id")
	if between.Status == dispatch.Scheduled {
		for failure, err := range m.live.Failures(t.Context(), m.key("again")) {
			require.NoError(t, err)
			require.Equal(t, first, failure.WebhookID, "under the id that its receiver knows")
		}
	}
	last := m.ended("again")
	require.Equal(t, []any{dispatch.DoneWithFailures, 2, 9, 1, 10}, []any{last.Status, last.Occurrence, last.Done, last.Failed, *last.Items})
	ids := map[string]bool{}
	for _, item := range numbered(10) {
		calls := m.r.Calls(item.ID)
		require.Len(t, calls, 2, item.ID)
		require.Equal(t, []string{"1", "2"}, receiver.Headers(calls, "Wakecall-Occurrence"))
		require.Empty(t, calls[0].Header.Get("Wakecall-Revision"), "items have none")
		for _, call := range calls {
			require.Equal(t, string(item.Payload), string(call.Body))
			ids[call.Header.Get("webhook-id")] = true
		}
	}
	require.Len(t, ids, 20)
	_, _, err := m.c.RetryFailures(t.Context(), m.key("again"))
	require.NoError(t, err, "those of the last one")
	m.ended("again")
	require.Equal(t, []string{"2"}, receiver.Headers(m.r.Calls("item-3")[2:], "Wakecall-Occurrence"))
}

// A loader is asked each time again, from the first page on.
func TestARecurringDispatchOfALoader(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-loaded-again", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	var times atomic.Int64
	loader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		answer := testenv.JSON{"items": []testenv.JSON{{"id": "last-" + strconv.FormatInt(times.Load(), 10)}}}
		if req.URL.Query().Get("cursor") == "" {
			answer = testenv.JSON{"items": []testenv.JSON{{"id": "first-" + strconv.FormatInt(times.Add(1), 10)}}, "next_cursor": "2"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(loader.Close)
	order, every, most := mass("d-loaded-again", "a", 100), wire.Duration(time.Second), 2
	order.Loader, order.Recurrence = &dispatch.Loader{URL: loader.URL}, &recurrence.Rule{After: &every, MaxOccurrences: &most}
	_, _, err := env.Engine.Dispatches.Add(t.Context(), order, nil)
	require.NoError(t, err)
	view := awaitDispatch(t, env, order.Key, in(dispatch.Done))
	require.Equal(t, []int{2, 2, 2}, []int{view.Occurrence, view.Done, *view.Items})
	for _, id := range []string{"first-1", "last-1", "first-2", "last-2"} {
		require.Len(t, r.Calls(id), 1, id)
	}
}

// A dispatch rises evenly to its rate: in the first half of its warm-up a quarter of the
// warm-up's items comes.
func TestADispatchWarmsUp(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	const rate, warm = 100, 4 * time.Second // 200 items
	reply := m.env.Do("POST", "/v1/dispatches", testenv.JSON{
		"business_type": m.kind, "business_id": "warm", "per_second": rate, "warm_up": warm.String(), "items": numbered(300),
	})
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	m.ended("warm")
	began := m.shown("warm").StartedAt.Time()
	half := 0
	var last time.Duration
	for _, call := range m.r.All() {
		at := call.At.Sub(began)
		if at < warm/2 {
			half++
		}
		last = max(last, at)
	}
	require.LessOrEqual(t, half, 60, "and not the half")
	require.GreaterOrEqual(t, last, 4900*time.Millisecond, "200 in the four seconds, and a hundred a second then")
}

// What is left at the latest time is not sent.
func TestADispatchExpires(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	latest := time.Now().Add(time.Minute)
	reply := m.env.Do("POST", "/v1/dispatches", testenv.JSON{
		"business_type": m.kind, "business_id": "late", "per_second": 10, "items": numbered(1000), "latest_at": latest.UTC().Format(time.RFC3339Nano),
	})
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	last := m.ended("late")
	require.Equal(t, dispatch.Expired, last.Status)
	require.Positive(t, last.Done)
	require.Equal(t, 1000-last.Done, *last.Rest)
	require.Len(t, m.r.All(), last.Done)
	for _, call := range m.r.All() {
		require.True(t, call.At.Before(latest.Add(time.Second)), "nothing leaves after it")
	}
}

// A loader that never stops answering stops its shard, whatever it would send.
func TestALoaderWithoutEnd(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-endless", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	var sent atomic.Int64
	loader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := bytes.Repeat([]byte(" "), 1<<20)
		for range 1 << 10 { // a gigabyte, if somebody reads it
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(loader.Close)
	order := mass("d-endless", "a", 100)
	order.Loader = &dispatch.Loader{URL: loader.URL}
	_, _, err := env.Engine.Dispatches.Add(t.Context(), order, nil)
	require.NoError(t, err)
	view := awaitDispatch(t, env, order.Key, in(dispatch.Failed))
	require.Contains(t, view.Shards[0].Problem.Message, "has more than 8388608 bytes")
	require.Less(t, sent.Load(), int64(64<<20), "nobody reads on")
}
