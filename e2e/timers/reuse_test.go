package timers

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Where the policy says so, an id is free once its timer has ended, however it
// ended: by POST, by PUT and in a batch. Each booking is a delivery of its own.
func TestIdIsFreeAfterTheEnd(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	r.On("/down", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"1s"}}, "reuse": "after_end"})
	daily := testenv.JSON{"business_type": kind, "business_id": "daily", "delay": "0s"}
	path := "/v1/timers/" + kind + "/daily"

	seen := map[string]bool{}
	ring := func(reply testenv.Reply) {
		t.Helper()
		require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
		seen[reply.Timer().WebhookID] = true
		r.Await(t, "daily", len(seen))
		env.Await(kind+"/daily", "delivered")
	}
	ring(env.Do("POST", "/v1/timers", daily))
	ring(env.Do("POST", "/v1/timers", daily))
	ring(env.Do("PUT", path, testenv.JSON{"delay": "0s"}))
	var batch struct{ Results []struct{ Status int } }
	env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": []testenv.JSON{daily}}).Into(&batch)
	require.Equal(t, http.StatusCreated, batch.Results[0].Status)
	r.Await(t, "daily", 4)
	env.Await(kind+"/daily", "delivered")
	require.Len(t, seen, 3, "each booking has its own webhook id")
	require.Equal(t, http.StatusConflict, env.Do("PATCH", path, testenv.JSON{"delay": "1h"}).Status, "what has ended is not changed")
	require.Equal(t, http.StatusConflict, env.Do("DELETE", path, nil).Status)

	late := sample.Booking(kind, "late", "0s", r.URL+"/down")
	late["expires_after"] = "300ms"
	env.Add(late)
	env.Await(kind+"/late", "expired")
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/timers", sample.Booking(kind, "late", "1h", r.URL)).Status)
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers", sample.Booking(kind, "late", "1h", r.URL)).Status, "one that is open is the same still")
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", sample.Booking(kind, "late", "2h", r.URL)).Status)
}

// Debouncing: an id is put again and again, also while it rings. No call is
// refused, and what was put last rings.
func TestDebouncing(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "reuse": "after_end"})
	const last = 40
	for n := range last + 1 {
		put := env.Do("PUT", "/v1/timers/"+kind+"/quiet", testenv.JSON{"delay": strconv.Itoa(n%3) + "ms", "payload": n})
		require.Less(t, put.Status, 300, "%s", put.Body)
	}
	env.Await(kind+"/quiet", "delivered")
	calls := r.Calls("quiet")
	require.Equal(t, fmt.Sprint(last), string(calls[len(calls)-1].Body))
	ids := map[string]receiver.Call{}
	for _, call := range calls {
		id := call.Header.Get("webhook-id")
		require.NotContains(t, ids, id, "no booking rings twice")
		ids[id] = call
	}
}

// putPatiently repeats a PUT that was not taken in time, as the answer says, and counts how
// often it was sent.
func putPatiently(env *testenv.Env, path string, body testenv.JSON) (put testenv.Reply, sent int64) {
	put.Status = http.StatusServiceUnavailable
	for put.Status == http.StatusServiceUnavailable {
		sent++
		put = env.Do("PUT", path, body)
	}
	return put, sent
}

// A hundred clients at once make one ring, with what was put last; who never stops is
// rung for at the longest wait.
func TestPushedOut(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "reuse": "after_end"})
	var sent atomic.Int64
	push := func(id string, body testenv.JSON) (view timer.View) {
		put, times := putPatiently(env, "/v1/timers/"+kind+"/"+id, body)
		require.Less(t, put.Status, 300, "%s", put.Body)
		sent.Add(times)
		put.Into(&view)
		return view
	}
	var clients sync.WaitGroup
	for n := range 100 {
		clients.Go(func() { push("many", testenv.JSON{"delay": "5m", "max_wait": "1h", "payload": n}) })
	}
	clients.Wait()
	last := push("many", testenv.JSON{"delay": "1s", "max_wait": "1h", "payload": "last"})
	require.GreaterOrEqual(t, last.Revision, 101, "each one took effect")
	require.LessOrEqual(t, last.Revision, int(sent.Load()))
	require.Less(t, last.RingBy.Until(time.Now()), time.Hour, "it counts from the first")
	env.Await(kind+"/many", "delivered")
	calls := r.Calls("many")
	require.Len(t, calls, 1)
	require.Equal(t, `"last"`, string(calls[0].Body))
	require.False(t, calls[0].At.Before(last.DueAt.Time()))

	first := push("busy", testenv.JSON{"delay": "1h", "max_wait": "5s", "payload": 0})
	for n := 1; len(r.Calls("busy")) == 0; n++ {
		push("busy", testenv.JSON{"delay": "1h", "max_wait": "5s", "payload": n})
	}
	call := r.Calls("busy")[0]
	require.False(t, call.At.Before(first.RingBy.Time()))
	require.NotEqual(t, "0", string(call.Body), "the content is of one that came later")
	require.NotEqual(t, "1", call.Header.Get("Wakecall-Revision"))
}
