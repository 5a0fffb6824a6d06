package timers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

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
