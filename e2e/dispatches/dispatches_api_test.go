package dispatches

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// dispatchTest is a dispatch of a test.
type dispatchTest struct {
	t    *testing.T
	env  *testenv.Env
	r    *receiver.Receiver
	kind string
	// c holds each call to the document; live does not, so that it can stream.
	c, live client.Dispatches
}

func openDispatchTest(t *testing.T) dispatchTest {
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"100ms"}}, "signing_secrets": []string{signingSecret}})
	return dispatchTest{t, env, r, kind, env.Wakecall().Dispatches, client.New(client.Options{URL: env.URL}).Dispatches}
}

const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func (m dispatchTest) key(id string) wire.Key {
	return wire.Key{BusinessType: m.kind, BusinessID: id}
}

func (m dispatchTest) path(id string) string { return "/v1/dispatches/" + m.kind + "/" + id }

func numbered(n int) (items []dispatch.Item) {
	for i := range n {
		items = append(items, client.Item("item-"+strconv.Itoa(i), map[string]int{"n": i}))
	}
	return items
}

// ended follows a dispatch to its end.
func (m dispatchTest) ended(id string) (last dispatch.View) {
	m.t.Helper()
	for view, err := range m.live.Follow(m.t.Context(), m.key(id)) {
		require.NoError(m.t, err)
		last = view
	}
	require.True(m.t, last.Status.Finished(), "%s", last.Status)
	return last
}

// shown is a dispatch by GET, held to the document.
func (m dispatchTest) shown(id string) (view dispatch.View) {
	m.t.Helper()
	reply := m.env.Do("GET", m.path(id), nil)
	require.Equal(m.t, http.StatusOK, reply.Status, "%s", reply.Body)
	reply.Into(&view)
	return view
}

func (m dispatchTest) await(id string, ok func(dispatch.View) bool) (view dispatch.View) {
	m.t.Helper()
	require.Eventually(m.t, func() bool {
		view = m.shown(id)
		return ok(view)
	}, time.Minute, 50*time.Millisecond, "a dispatch takes its time")
	return view
}

// once expects that the receiver was called exactly once for each item, and returns the
// webhook ids.
func (m dispatchTest) once(items []dispatch.Item) map[string]string {
	m.t.Helper()
	ids := map[string]string{}
	for _, item := range items {
		calls := m.r.Calls(item.ID)
		require.Len(m.t, calls, 1, item.ID)
		require.Equal(m.t, string(item.Payload), string(calls[0].Body))
		ids[item.ID] = calls[0].Header.Get("webhook-id")
	}
	require.Len(m.t, m.r.All(), len(items))
	return ids
}

func TestADispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	const n, rate = 400, 100 // four seconds, of which the stream tells every one
	order := testenv.JSON{"business_type": m.kind, "business_id": "tonight", "per_second": rate, "items": numbered(n)}
	reply := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	require.Equal(t, m.path("tonight"), reply.Header.Get("Location"))
	again := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	order["per_second"] = rate + 1
	require.Equal(t, http.StatusConflict, m.env.Do("POST", "/v1/dispatches", order).Status)

	events := m.env.Send(m.env.Request("GET", m.path("tonight")+"/events", nil)) // held to the document, each event
	require.Equal(t, "text/event-stream", events.Header.Get("Content-Type"))
	require.Greater(t, strings.Count(string(events.Body), "event: progress\n"), 1)
	require.Equal(t, 1, strings.Count(string(events.Body), "event: end\n"))

	done := m.shown("tonight")
	require.Equal(t, dispatch.Done, done.Status)
	require.Equal(t, []int{n, n, 0, 0, 0, 0, n}, []int{*done.Items, done.Done, done.Failed, done.Retrying, done.InFlight, *done.Rest, done.Callbacks})
	ids := m.once(numbered(n))
	distinct := map[string]bool{}
	var sent []time.Time
	for _, call := range m.r.All() {
		distinct[call.Header.Get("webhook-id")] = true
		require.Equal(t, "tonight", call.Header.Get("Wakecall-Dispatch"))
		require.Equal(t, "1", call.Header.Get("Wakecall-Attempt"))
		require.NotEmpty(t, call.Header.Get("webhook-signature"))
		sent = append(sent, call.At)
	}
	require.Len(t, distinct, len(ids))
	require.GreaterOrEqual(t, receiver.Span(sent), time.Duration(float64(n-1)/rate*0.9*float64(time.Second)), "the rate is kept")

	require.Empty(t, m.env.Do("GET", m.path("tonight")+"/failures", nil).Body)
	require.Equal(t, http.StatusConflict, m.env.Do("POST", m.path("tonight")+"/retry-failures", nil).Status, "nothing failed")
	require.Equal(t, http.StatusConflict, m.env.Do("PATCH", m.path("tonight"), testenv.JSON{"per_second": 1}).Status)
	require.Equal(t, http.StatusConflict, m.env.Do("DELETE", m.path("tonight"), nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Dispatches []dispatch.View }
		m.env.Do("GET", "/v1/dispatches?"+url.Values{"business_type": {m.kind}, "status": {"done"}}.Encode(), nil).Into(&page)
		require.Len(c, page.Dispatches, 1)
		assert.Equal(c, "tonight", page.Dispatches[0].BusinessID)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other"), nil).Status)
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other")+"/failures", nil).Status)
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other")+"/events", nil).Status)
}

// What fails climbs the ladder, is listed with its reason, and can be tried again under the
// same webhook id.
func TestFailuresOfADispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	var mu sync.Mutex
	mended := false
	target := m.r.On("/flaky", func(w http.ResponseWriter, r *http.Request, n int) {
		mu.Lock()
		defer mu.Unlock()
		switch r.Header.Get("Wakecall-Business-Id") {
		case "item-3":
			if !mended {
				w.WriteHeader(http.StatusGone)
			}
		case "item-5":
			if !mended {
				w.WriteHeader(http.StatusInternalServerError)
			}
		case "item-7":
			if n == 1 {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
	})
	_, _, err := m.c.Start(t.Context(), client.Order{
		Dispatch: dispatch.Dispatch{Key: m.key("flaky"), PerSecond: 100, Callback: &delivery.Callback{Destination: delivery.HTTP(target)}}, Items: numbered(20),
	})
	require.NoError(t, err)
	last := m.ended("flaky")
	require.Equal(t, []any{dispatch.DoneWithFailures, 18, 2}, []any{last.Status, last.Done, last.Failed})
	require.Equal(t, []int{1, 2, 2}, []int{len(m.r.Calls("item-3")), len(m.r.Calls("item-5")), len(m.r.Calls("item-7"))})
	failed := map[string]dispatch.Failure{}
	for failure, err := range m.live.Failures(t.Context(), m.key("flaky")) {
		require.NoError(t, err)
		failed[failure.ID] = failure
	}
	require.Len(t, failed, 2)
	require.Equal(t, []int{410, 1}, []int{failed["item-3"].Failure.Status, failed["item-3"].Attempts})
	require.Equal(t, []int{500, 2}, []int{failed["item-5"].Failure.Status, failed["item-5"].Attempts})
	require.JSONEq(t, `{"n":5}`, string(failed["item-5"].Payload))
	require.Equal(t, m.r.Calls("item-5")[0].Header.Get("webhook-id"), failed["item-5"].WebhookID)
	require.Equal(t, 2, bytes.Count(m.env.Do("GET", m.path("flaky")+"/failures", nil).Body, []byte("\n")))

	mu.Lock()
	mended = true
	mu.Unlock()
	reply := m.env.Do("POST", m.path("flaky")+"/retry-failures", nil)
	require.Equal(t, http.StatusAccepted, reply.Status, "%s", reply.Body)
	require.Contains(t, string(reply.Body), `{"retried":2,`)
	m.r.Await(t, "item-3", 2)
	m.r.Await(t, "item-5", 3)
	last = m.ended("flaky")
	require.Equal(t, []any{dispatch.Done, 20, 0}, []any{last.Status, last.Done, last.Failed})
	for _, id := range []string{"item-3", "item-5"} {
		for _, call := range m.r.Calls(id) {
			require.Equal(t, failed[id].WebhookID, call.Header.Get("webhook-id"))
		}
	}
	require.Empty(t, m.env.Do("GET", m.path("flaky")+"/failures", nil).Body)
}

func TestADispatchIsControlled(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	_, _, err := m.c.Start(t.Context(), client.Order{Dispatch: dispatch.Dispatch{Key: m.key("slow"), PerSecond: 1}, Items: numbered(1000)})
	require.NoError(t, err)
	wait := client.After(10 * time.Second)
	m.r.AwaitAll(t, 1)
	changed := m.env.Do("PATCH", m.path("slow")+"?wait=30s", testenv.JSON{"per_second": 100})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Body)
	require.InDelta(t, 100, m.shown("slow").PerSecond, 0)
	m.r.AwaitAll(t, 50)
	paused := m.env.Do("POST", m.path("slow")+"/pause?wait=30s", nil)
	require.Equal(t, http.StatusOK, paused.Status, "%s", paused.Body)
	view := m.await("slow", func(v dispatch.View) bool { return v.Status == dispatch.Paused && v.InFlight == 0 })
	require.Less(t, view.Done, 1000)
	_, pending, err := m.c.Resume(t.Context(), m.key("slow"), wait)
	require.NoError(t, err)
	require.False(t, pending)
	m.r.AwaitAll(t, view.Done+20)
	cancelled := m.env.Do("DELETE", m.path("slow")+"?wait=30s", nil)
	require.Equal(t, http.StatusOK, cancelled.Status, "%s", cancelled.Body)
	require.Equal(t, dispatch.Cancelled, m.ended("slow").Status, "who follows is told")
	require.Equal(t, http.StatusOK, m.env.Do("DELETE", m.path("slow"), nil).Status, "once more")
}

// A loader is asked for pages, shard by shard; one that fails stops its shard only.
func TestALoadedDispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	var mu sync.Mutex
	var asked []*http.Request
	loader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r)
		mu.Unlock()
		shard, from := r.URL.Query().Get("shard"), 0
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			from, _ = strconv.Atoi(cursor)
		}
		answer := map[string]any{}
		var items []dispatch.Item
		for i := from; i < min(from+10, 25); i++ {
			items = append(items, client.Item("item-"+shard+"-"+strconv.Itoa(i), i))
		}
		answer["items"] = items
		if from+10 < 25 {
			answer["next_cursor"] = strconv.Itoa(from + 10)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer loader.Close()
	_, _, err := m.c.Start(t.Context(), client.Order{Dispatch: dispatch.Dispatch{
		Key: m.key("loaded"), PerSecond: 500, Loader: &dispatch.Loader{URL: loader.URL + "/items?of=us", Shards: 3, PageSize: 10},
	}})
	require.NoError(t, err)
	last := m.ended("loaded")
	require.Equal(t, []any{dispatch.Done, 75}, []any{last.Status, last.Done})
	require.Len(t, m.r.All(), 75)
	mu.Lock()
	defer mu.Unlock()
	for _, r := range asked {
		q := r.URL.Query()
		require.Equal(t, []string{"us", "3", "10"}, []string{q.Get("of"), q.Get("shards"), q.Get("limit")})
		require.NotEmpty(t, r.Header.Get("webhook-signature"))
	}
}

// One callback for a page, with a verdict for each of its items.
func TestPagesOfAnUploadedDispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	var first atomic.Value // the webhook id of the first page, which may come again where its worker stood still
	target := m.r.On("/page", func(w http.ResponseWriter, r *http.Request, _ int) {
		id := r.Header.Get("webhook-id")
		if first.CompareAndSwap(nil, id); first.Load() == id && r.Header.Get("Wakecall-Attempt") == "1" {
			_, _ = w.Write([]byte(`{"results":[{"id":"item-1","ok":false,"reason":"busy"},{"id":"item-2","ok":false,"retry":false,"reason":"no such user"}]}`))
		}
	})
	_, _, err := m.c.Start(t.Context(), client.Order{Upload: true, Dispatch: dispatch.Dispatch{
		Key: m.key("pages"), PerSecond: 50, Per: dispatch.PerPage, PageSize: 10, Callback: &delivery.Callback{Destination: delivery.HTTP(target)},
	}})
	require.NoError(t, err)
	_, err = m.live.Upload(t.Context(), m.key("pages"), 0, func(yield func(dispatch.Item, error) bool) {
		for _, item := range numbered(30) {
			if !yield(item, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	last := m.ended("pages")
	require.Equal(t, []any{dispatch.DoneWithFailures, 29, 1}, []any{last.Status, last.Done, last.Failed})
	calls := m.r.To("/page")
	lost := lostShardRuns(t, m.env, m.key("pages"))
	require.GreaterOrEqual(t, len(calls), 4)
	require.LessOrEqual(t, len(calls), 4*(1+lost), "none comes again without a reason")
	seen := map[string]int{}
	for _, call := range calls {
		require.Equal(t, "pages", call.ID())
		var page struct{ Items []dispatch.Item }
		require.NoError(t, json.Unmarshal(call.Body, &page))
		for _, item := range page.Items {
			seen[item.ID]++
		}
	}
	require.Len(t, seen, 30)
	require.Greater(t, seen["item-1"], seen["item-2"], "one of them is tried again")
	require.LessOrEqual(t, seen["item-2"], 1+lost)
}

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

// lostShardRuns counts the attempts at shard runs of a dispatch that Temporal gave up, by the
// histories of its shards: of a worker that was silent for too long. What another worker
// takes over may be sent again; without any such attempt nothing is.
func lostShardRuns(t *testing.T, env *testenv.Env, key wire.Key) (lost int) {
	t.Helper()
	history := env.Client.GetWorkflowHistory(t.Context(), workflows.DispatchWorkflowID(key), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		if shard := event.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution(); shard != nil {
			lost += lostIn(t, env, shard.GetWorkflowId())
		}
	}
	return lost
}

// lostIn counts them in one shard, which has one run: it is a short dispatch.
func lostIn(t *testing.T, env *testenv.Env, shard string) (lost int) {
	t.Helper()
	history := env.Client.GetWorkflowHistory(t.Context(), shard, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		lost += max(int(event.GetActivityTaskStartedEventAttributes().GetAttempt())-1, 0)
	}
	return lost
}
