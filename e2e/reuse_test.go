package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Where the policy says so, an id is free once its timer has ended, however it
// ended: by POST, by PUT and in a batch. Each booking is a delivery of its own.
func TestIdIsFreeAfterTheEnd(t *testing.T) {
	t.Parallel()
	env, r, kind := open(t)
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

	late := booking(kind, "late", "0s", r.URL+"/down")
	late["expires_after"] = "300ms"
	env.Add(late)
	env.Await(kind+"/late", "expired")
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/timers", booking(kind, "late", "1h", r.URL)).Status)
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers", booking(kind, "late", "1h", r.URL)).Status, "one that is open is the same still")
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", booking(kind, "late", "2h", r.URL)).Status)
}

// Debouncing: an id is put again and again, also while it rings. No call is
// refused, and what was put last rings.
func TestDebouncing(t *testing.T) {
	t.Parallel()
	env, r, kind := open(t)
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
