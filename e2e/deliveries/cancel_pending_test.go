package deliveries

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

const cancelPending = "urn:wakecall:problem:cancel-pending"

// Nothing that comes after a cancel is acknowledged and lost: while no worker carries the
// cancel out, it is refused, and afterwards a booking books anew.
func TestNothingIsLostBehindACancel(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	oneShot := sample.Booking(kind, "one-shot", "1h", r.URL)
	every := sample.Booking(kind, "recurring", "", r.URL)
	delete(every, "delay")
	every["recurrence"] = testenv.JSON{"every": "1h"}
	for _, timer := range []testenv.JSON{oneShot, every} {
		env.Add(timer)
		path := "/v1/timers/" + kind + "/" + timer["business_id"].(string)
		pending := env.Do("DELETE", path+"?wait=0s", nil)
		require.Equal(t, http.StatusAccepted, pending.Status, "%s", pending.Body)
		require.True(t, env.Get(kind+"/"+timer["business_id"].(string)).CancelRequested)
		replacement := testenv.JSON{"delay": "2h", "callback": timer["callback"]}
		other := testenv.JSON{"business_type": kind, "business_id": timer["business_id"], "delay": "3h", "callback": timer["callback"]}
		for name, request := range map[string]*http.Request{
			"the same again": env.Request("POST", "/v1/timers", timer),
			"other content":  env.Request("POST", "/v1/timers", other),
			"PUT":            env.Request("PUT", path+"?wait=0s", replacement),
			"PATCH":          env.Request("PATCH", path+"?wait=0s", testenv.JSON{"delay": "2h"}),
			"labels":         env.Request("PATCH", path+"?wait=50ms", testenv.JSON{"labels": testenv.JSON{"a": "b"}}),
			"fire":           env.Request("POST", path+"/fire?wait=0s", nil),
		} {
			refused := env.Send(request)
			require.Equal(t, http.StatusConflict, refused.Status, "%s: %s", name, refused.Body)
			require.Equal(t, cancelPending, refused.Problem().Type, name)
			require.True(t, refused.Problem().Timer.CancelRequested, name)
		}
		if timer["recurrence"] != nil {
			for _, verb := range []string{"/pause", "/resume"} {
				require.Equal(t, cancelPending, env.Do("POST", path+verb+"?wait=0s", nil).Problem().Type, verb)
			}
		}
		require.Equal(t, http.StatusAccepted, env.Do("DELETE", path+"?wait=0s", nil).Status, "a cancel may be repeated")
	}
	batch := env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": []testenv.JSON{oneShot}})
	require.Contains(t, string(batch.Body), cancelPending)

	env.StartWorker()
	env.Await(kind+"/one-shot", "cancelled")
	env.Await(kind+"/recurring", "cancelled")
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/timers", oneShot).Status)
	put := env.Do("PUT", "/v1/timers/"+kind+"/recurring", testenv.JSON{"delay": "0s", "callback": every["callback"]})
	require.Equal(t, http.StatusCreated, put.Status, "%s", put.Body)
	r.Await(t, "recurring", 1)
}

// With a worker, a booking that comes behind a cancel waits for it and books anew.
func TestABookingBehindACancelBooksAnew(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for round := range 10 {
		for _, method := range []string{"POST", "PUT"} {
			id := method + string(rune('0'+round))
			timer := sample.Booking(kind, id, "1h", r.URL)
			before := env.Add(timer)
			path := "/v1/timers/" + kind + "/" + id
			deleted := env.Do("DELETE", path+"?wait=0s", nil)
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, deleted.Status)
			book := func() testenv.Reply { return env.Do("POST", "/v1/timers", timer) }
			if method == "PUT" {
				book = func() testenv.Reply {
					return env.Do("PUT", path+"?wait=30s", testenv.JSON{"delay": "1h", "callback": timer["callback"]})
				}
			}
			again := book()
			for again.Status == http.StatusConflict && again.Problem().Type == cancelPending { // a slow worker: it may be repeated
				again = book()
			}
			require.Equal(t, http.StatusCreated, again.Status, "%s %d: %s", method, round, again.Body)
			after := env.Get(kind + "/" + id)
			require.Equal(t, "scheduled", after.Status)
			require.False(t, after.CancelRequested)
			require.NotEqual(t, before.WebhookID, after.WebhookID, "it is another booking")
		}
	}
}

// A receiver's word that comes behind a cancel is refused, and so is all about a dispatch.
func TestWordsBehindACancel(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	env.StartWorker()
	testenv.Accepts(env, r, kind, nil)
	_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/1", Number: 1})
	order := testenv.JSON{"business_type": kind, "business_id": "mass", "upload": true, "per_second": 10, "callback": testenv.JSON{"url": r.URL}}
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/dispatches", order).Status)
	env.StopWorker()

	require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/"+kind+"/1?wait=50ms", nil).Status)
	_, _, err = env.Wakecall().Deliveries.Ack(t.Context(), delivery, client.After(50*time.Millisecond))
	require.ErrorContains(t, err, "cancel")
	_, _, err = env.Wakecall().Deliveries.Nack(t.Context(), delivery, client.Failure{})
	require.ErrorContains(t, err, "cancel")
	path := "/v1/dispatches/" + kind + "/mass"
	require.Equal(t, http.StatusAccepted, env.Do("DELETE", path+"?wait=50ms", nil).Status)
	require.Contains(t, string(env.Do("GET", path, nil).Body), `"cancel_requested":true`)
	for name, request := range map[string]*http.Request{
		"the same order": env.Request("POST", "/v1/dispatches", order),
		"another rate":   env.Request("PATCH", path+"?wait=50ms", testenv.JSON{"per_second": 20}),
		"pause":          env.Request("POST", path+"/pause?wait=50ms", nil),
		"resume":         env.Request("POST", path+"/resume?wait=50ms", nil),
		"retry":          env.Request("POST", path+"/retry-failures", nil),
	} {
		refused := env.Send(request)
		require.Equal(t, cancelPending, refused.Problem().Type, "%s: %s", name, refused.Body)
	}
	bulk := testenv.JSON{"id": kind, "operation": "fire", "filter": testenv.JSON{"business_type": kind}, "per_second": 1}
	require.Equal(t, http.StatusAccepted, env.Do("POST", "/v1/bulk", bulk).Status)
	require.NotContains(t, string(env.Do("GET", "/v1/bulk/"+kind, nil).Body), "cancel_requested")
	stopped := env.Do("DELETE", "/v1/bulk/"+kind, nil)
	require.Equal(t, http.StatusAccepted, stopped.Status)
	for name, told := range map[string]testenv.Reply{
		"stop": stopped, "get": env.Do("GET", "/v1/bulk/"+kind, nil), "the same order": env.Do("POST", "/v1/bulk", bulk),
	} {
		require.Contains(t, string(told.Body), `"cancel_requested":true`, name)
	}
	env.StartWorker()
	env.Await(kind+"/1", "cancelled")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		body := string(env.Do("GET", "/v1/bulk/"+kind, nil).Body)
		assert.Contains(c, body, `"status":"stopped"`)
		assert.NotContains(c, body, "cancel_requested")
	}, testenv.Patience, 50*time.Millisecond, "the worker hears of it")
}
