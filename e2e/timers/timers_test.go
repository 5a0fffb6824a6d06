package timers

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestBookedAndRung(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	booked := env.Add(sample.Booking(kind, "1", "1s", r.URL))
	require.Equal(t, "scheduled", booked.Status)
	call := r.Await(t, "1", 1)[0]
	require.False(t, call.At.Before(booked.DueAt), "rang %s early", booked.DueAt.Sub(call.At))
	done := env.Await(kind+"/1", "delivered")
	require.Equal(t, 1, done.Attempts)
	require.NotNil(t, done.LatenessMS)
	require.GreaterOrEqual(t, *done.LatenessMS, int64(0))
	require.Equal(t, call.Header.Get("webhook-id"), done.WebhookID)
	require.Contains(t, done.Links.WebUI, "/namespaces/default/workflows/"+kind+"%2F1/")
	require.Len(t, r.Calls("1"), 1)
}

func TestPastDueRingsAtOnce(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	body := sample.Booking(kind, "1", "", r.URL)
	delete(body, "delay")
	body["due_at"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano)
	booked := env.Add(body)
	call := r.Await(t, "1", 1)[0]
	require.Equal(t, booked.DueAt.Format("2006-01-02T15:04:05.000Z"), call.Header.Get("Wakecall-Due-At"), "the nominal time is kept")
	require.GreaterOrEqual(t, *env.Await(kind+"/1", "delivered").LatenessMS, time.Hour.Milliseconds())
}

func TestSameBookingTwiceIsOneTimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	first := env.Add(sample.Booking(kind, "1", "1h", r.URL))
	again := env.Do("POST", "/v1/timers", sample.Booking(kind, "1", "1h", r.URL))
	require.Equal(t, http.StatusOK, again.Status)
	require.Equal(t, first, again.Timer(), "the timer that is there is answered, not a later one")

	other := env.Do("POST", "/v1/timers", sample.Booking(kind, "1", "2h", r.URL))
	require.Equal(t, http.StatusConflict, other.Status)
	problem := other.Problem()
	require.Equal(t, "urn:wakecall:problem:already-exists", problem.Type)
	require.Equal(t, first.DueAt, problem.Timer.DueAt)
}

// A machine that is busy refuses some of them for a moment; they repeat their call.
func TestTwoHundredClientsMakeOneTimer(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	const clients = 200
	statuses := make(chan int, clients)
	book := func() int { return env.Do("POST", "/v1/timers", sample.Booking(kind, "1", "1h", r.URL)).Status }
	var ready, done sync.WaitGroup
	ready.Add(1)
	for range clients {
		done.Go(func() {
			ready.Wait()
			status := book()
			for status == http.StatusServiceUnavailable {
				status = book()
			}
			statuses <- status
		})
	}
	ready.Done()
	done.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	require.Equal(t, map[int]int{201: 1, 200: clients - 1}, count)
	env.Do("POST", "/v1/timers/"+kind+"/1/fire", nil)
	env.Await(kind+"/1", "delivered")
	require.Len(t, r.Calls("1"), 1)
}

func TestRebooking(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	failing := r.On("/gone", receiver.Status(http.StatusGone))

	t.Run("cancelled may", func(t *testing.T) {
		first := env.Add(sample.Booking(kind, "cancelled", "1h", r.URL))
		require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil).Status)
		second := env.Add(sample.Booking(kind, "cancelled", "1h", r.URL))
		require.NotEqual(t, first.WebhookID, second.WebhookID, "another booking is another delivery")
	})
	t.Run("failed may", func(t *testing.T) {
		env.Add(sample.Booking(kind, "failed", "0s", failing))
		env.Await(kind+"/failed", "failed")
		env.Add(sample.Booking(kind, "failed", "1h", r.URL))
	})
	t.Run("delivered may not", func(t *testing.T) {
		env.Add(sample.Booking(kind, "delivered", "0s", r.URL))
		env.Await(kind+"/delivered", "delivered")
		for _, method := range []string{"POST", "PUT"} {
			path, body := "/v1/timers", sample.Booking(kind, "delivered", "0s", r.URL)
			if method == "PUT" {
				path += "/" + kind + "/delivered"
			}
			reply := env.Do(method, path, body)
			require.Equal(t, http.StatusConflict, reply.Status, method)
			require.Equal(t, "urn:wakecall:problem:already-finished", reply.Problem().Type)
			require.Equal(t, "delivered", reply.Problem().Timer.Status)
		}
	})
	t.Run("expired may not", func(t *testing.T) {
		body := sample.Booking(kind, "expired", "0s", r.On("/busy", receiver.Status(500)))
		body["expires_after"], body["retry"] = "300ms", testenv.JSON{"steps": []string{"1h"}}
		env.Add(body)
		env.Await(kind+"/expired", "expired")
		require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", body).Status)
	})
}

func TestMoves(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	t.Run("earlier", func(t *testing.T) {
		env.Add(sample.Booking(kind, "earlier", "1h", r.URL))
		moved := env.Do("PATCH", "/v1/timers/"+kind+"/earlier", testenv.JSON{"delay": "1s"})
		require.Equal(t, http.StatusOK, moved.Status)
		call := r.Await(t, "earlier", 1)[0]
		require.False(t, call.At.Before(moved.Timer().DueAt))
		require.Equal(t, "2", call.Header.Get("Wakecall-Revision"))
		require.JSONEq(t, `{"n":1}`, string(call.Body), "what is not named stays")
	})
	t.Run("later", func(t *testing.T) {
		env.Add(sample.Booking(kind, "later", "3s", r.URL))
		moved := env.Do("PATCH", "/v1/timers/"+kind+"/later", testenv.JSON{"delay": "4s", "payload": testenv.JSON{"n": 2}})
		require.Equal(t, http.StatusOK, moved.Status)
		call := r.Await(t, "later", 1)[0]
		require.False(t, call.At.Before(moved.Timer().DueAt))
		require.JSONEq(t, `{"n":2}`, string(call.Body))
		env.Await(kind+"/later", "delivered")
		require.Len(t, r.Calls("later"), 1)
	})
	t.Run("twenty in a row, the last one wins", func(t *testing.T) {
		env.Add(sample.Booking(kind, "often", "1h", r.URL))
		for range 19 {
			require.Equal(t, http.StatusAccepted, env.Do("PATCH", "/v1/timers/"+kind+"/often?wait=0s", testenv.JSON{"delay": "2h"}).Status)
		}
		last := env.Do("PATCH", "/v1/timers/"+kind+"/often?wait=30s", testenv.JSON{"delay": "1s"})
		require.Equal(t, http.StatusOK, last.Status)
		require.Equal(t, 21, last.Timer().Revision)
		call := r.Await(t, "often", 1)[0]
		require.Equal(t, "21", call.Header.Get("Wakecall-Revision"))
	})
	t.Run("while a retry is pending", func(t *testing.T) {
		body := sample.Booking(kind, "retrying", "0s", r.On("/once", receiver.FailFirst(1)))
		body["retry"] = testenv.JSON{"steps": []string{"1h"}}
		env.Add(body)
		before := r.Await(t, "retrying", 1)[0]
		env.Await(kind+"/retrying", "delivering")
		require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/retrying", testenv.JSON{"delay": "100ms"}).Status)
		after := r.Await(t, "retrying", 2)[1]
		require.Equal(t, before.Header.Get("webhook-id"), after.Header.Get("webhook-id"))
		env.Await(kind+"/retrying", "delivered")
	})
	t.Run("of a finished or unknown timer", func(t *testing.T) {
		require.Equal(t, http.StatusConflict, env.Do("PATCH", "/v1/timers/"+kind+"/later", testenv.JSON{"delay": "1h"}).Status)
		require.Equal(t, http.StatusNotFound, env.Do("PATCH", "/v1/timers/"+kind+"/nobody", testenv.JSON{"delay": "1h"}).Status)
		require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/nobody", nil).Status, "a PATCH books nothing")
	})
}

func TestUpsert(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/timers/" + kind + "/1"
	body := testenv.JSON{"delay": "1h", "payload": testenv.JSON{"n": 1}, "callback": testenv.JSON{"url": r.URL}, "priority": 1}
	created := env.Do("PUT", path, body)
	require.Equal(t, http.StatusCreated, created.Status)
	require.Equal(t, path, created.Header.Get("Location"))
	changed := env.Do("PUT", path, testenv.JSON{"delay": "1s", "callback": testenv.JSON{"url": r.URL}})
	require.Equal(t, http.StatusOK, changed.Status)
	require.Equal(t, 2, changed.Timer().Revision)
	require.Equal(t, created.Timer().WebhookID, changed.Timer().WebhookID)
	call := r.Await(t, "1", 1)[0]
	require.Empty(t, call.Body, "what a PUT leaves out goes back to its default")
	env.Await(kind+"/1", "delivered")
	require.Equal(t, http.StatusConflict, env.Do("PUT", path, body).Status)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Add(sample.Booking(kind, "1", "1h", r.URL))
	path := "/v1/timers/" + kind + "/1"
	for range 2 {
		reply := env.Do("DELETE", path, nil)
		require.Equal(t, http.StatusOK, reply.Status)
		require.Equal(t, "cancelled", reply.Timer().Status)
	}
	require.Equal(t, http.StatusNotFound, env.Do("DELETE", "/v1/timers/"+kind+"/nobody", nil).Status)
	env.Add(sample.Booking(kind, "delivered", "0s", r.URL))
	env.Await(kind+"/delivered", "delivered")
	late := env.Do("DELETE", "/v1/timers/"+kind+"/delivered", nil)
	require.Equal(t, http.StatusConflict, late.Status)
	require.Equal(t, "delivered", late.Problem().Timer.Status)
}

// A cancel that arrives while the attempt is in flight loses when the receiver
// takes the call, and the answer says so. Temporal refuses the closing command
// that collides with the cancel, and hands the task out again: without the
// receipt the receiver would be called twice.
func TestCancelInFlight(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	answer := make(chan int)
	url := r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	t.Run("and delivered", func(t *testing.T) {
		env.Add(sample.Booking(kind, "taken", "0s", url))
		r.Await(t, "taken", 1)
		pending := env.Do("DELETE", "/v1/timers/"+kind+"/taken?wait=10ms", nil)
		require.Equal(t, http.StatusAccepted, pending.Status)
		require.Equal(t, "delivering", pending.Timer().Status)
		answer <- http.StatusOK
		require.Equal(t, 1, env.Await(kind+"/taken", "delivered").Attempts)
		require.Len(t, r.Calls("taken"), 1)
		require.Equal(t, http.StatusConflict, env.Do("DELETE", "/v1/timers/"+kind+"/taken", nil).Status)
	})
	t.Run("and refused", func(t *testing.T) {
		env.Add(sample.Booking(kind, "refused", "0s", url))
		r.Await(t, "refused", 1)
		require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/"+kind+"/refused?wait=10ms", nil).Status)
		answer <- http.StatusInternalServerError
		env.Await(kind+"/refused", "cancelled")
		require.Len(t, r.Calls("refused"), 1)
	})
	t.Run("and moved", func(t *testing.T) {
		env.Add(sample.Booking(kind, "moved", "0s", url))
		r.Await(t, "moved", 1)
		require.Equal(t, http.StatusAccepted, env.Do("PATCH", "/v1/timers/"+kind+"/moved?wait=10ms", testenv.JSON{"delay": "1h"}).Status)
		answer <- http.StatusOK
		env.Await(kind+"/moved", "delivered")
		require.Len(t, r.Calls("moved"), 1)
	})
}

// With several workers the task that is handed out again goes to any of them:
// the one that has it asks the one that had it.
func TestCancelInFlightAmongWorkers(t *testing.T) { // it needs the machine for itself
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	for range 4 {
		testenv.Open(t, addr).StartWorker()
	}
	const timers = 20
	release := make(chan struct{})
	url := r.On("/slow", func(http.ResponseWriter, *http.Request, int) { <-release })
	ids := make([]string, timers)
	for i := range ids {
		ids[i] = "n-" + strconv.Itoa(i)
		body := sample.Booking(kind, ids[i], "0s", url)
		body["callback"] = testenv.JSON{"url": url, "timeout": "60s"} // no attempt ends by itself
		env.Add(body)
	}
	for _, id := range ids {
		r.Await(t, id, 1)
		require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/"+kind+"/"+id+"?wait=0s", nil).Status)
	}
	close(release)
	for _, id := range ids {
		require.Equal(t, 1, env.Await(kind+"/"+id, "delivered").Attempts)
		require.Len(t, r.Calls(id), 1)
	}
}

// An attempt that outlasts its workflow task is carried over by the SDK, which
// sees the cancel on the way; the attempt is waited for all the same.
func TestCancelOfALongAttempt(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	answered := make(chan struct{})
	url := r.On("/slow", func(_ http.ResponseWriter, _ *http.Request, _ int) { <-answered })
	body := sample.Booking(kind, "1", "0s", url)
	body["callback"] = testenv.JSON{"url": url, "timeout": "60s"}
	env.Add(body)
	r.Await(t, "1", 1)
	require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/"+kind+"/1?wait=10ms", nil).Status)
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), kind+"/1", "")
		return err == nil && described.GetWorkflowExecutionInfo().GetHistoryLength() > 6
	}, testenv.Patience, 100*time.Millisecond, "at 80 % of the task timeout the task is carried over")
	close(answered)
	require.Equal(t, 1, env.Await(kind+"/1", "delivered").Attempts)
	require.Len(t, r.Calls("1"), 1)
}

func TestFire(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Add(sample.Booking(kind, "1", "1h", r.URL))
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/"+kind+"/1/fire", nil).Status)
	r.Await(t, "1", 1)
	env.Await(kind+"/1", "delivered")
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers/"+kind+"/1/fire", nil).Status)
	require.Equal(t, http.StatusNotFound, env.Do("POST", "/v1/timers/"+kind+"/2/fire", nil).Status)
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	body := sample.Booking(kind, "1", "0s", r.On("/twice", receiver.FailFirst(2)))
	body["retry"], body["expires_after"] = testenv.JSON{"steps": []string{"10ms"}}, "1h"
	env.Add(body)
	failed := env.Await(kind+"/1", "failed")
	require.Equal(t, 2, failed.Attempts)
	require.Equal(t, 500, failed.LastFailure.Status)
	path := "/v1/timers/" + kind + "/1/redeliver"
	require.Equal(t, http.StatusOK, env.Do("POST", path, nil).Status)
	calls := r.Await(t, "1", 3)
	require.Equal(t, calls[0].Header.Get("webhook-id"), calls[2].Header.Get("webhook-id"))
	require.Equal(t, calls[0].Body, calls[2].Body)
	env.Await(kind+"/1", "delivered")
	require.Equal(t, http.StatusConflict, env.Do("POST", path, nil).Status)
}

func TestBookingNeedsNoWorker(t *testing.T) {
	t.Parallel()
	// A server of its own: on the shared one the workers of other tests poll.
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r := testenv.OpenWith(t, addr, testenv.Settings()), receiver.New(t)
	require.Equal(t, http.StatusServiceUnavailable, env.Do("GET", "/readyz", nil).Status, "a timer would not ring")
	env.Add(sample.Booking("idle", "post", "1s", r.URL))
	put := testenv.JSON{"delay": "1s", "callback": testenv.JSON{"url": r.URL}}
	require.Equal(t, http.StatusCreated, env.Do("PUT", "/v1/timers/idle/put", put).Status)
	moved := env.Do("PUT", "/v1/timers/idle/post?wait=10ms", put)
	require.Equal(t, http.StatusAccepted, moved.Status)
	require.Equal(t, "/v1/timers/idle/post", moved.Header.Get("Location"))
	require.Equal(t, "scheduled", env.Get("idle/put").Status)
	push := testenv.JSON{"delay": "5m", "max_wait": "1h", "callback": testenv.JSON{"url": r.URL}}
	var clients sync.WaitGroup
	var sent atomic.Int64
	for range 100 {
		clients.Go(func() {
			put, times := putPatiently(env, "/v1/timers/idle/pushed?wait=0s", push)
			assert.Less(t, put.Status, 300)
			sent.Add(times)
		})
	}
	clients.Wait()
	push["payload"], push["delay"] = "the last one", "2s"
	pushed := time.Now()
	require.Equal(t, http.StatusAccepted, env.Do("PUT", "/v1/timers/idle/pushed?wait=0s", push).Status)
	env.Policy("idle", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(testenv.JSON{"business_type": "idle", "business_id": "cancelled", "delay": "1s"})
	require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/idle/cancelled?wait=10ms", nil).Status)

	// Of two opposite changes the last one counts, though neither shows yet.
	for id, rule := range map[string]testenv.JSON{"goes-on": {"every": "1h"}, "stays-so": {"every": "1h", "paused": true}} {
		env.Add(sample.Repeating("idle", id, rule))
		for _, call := range map[string][]string{"goes-on": {"pause", "resume"}, "stays-so": {"resume", "pause"}}[id] {
			require.Equal(t, http.StatusAccepted, env.Do("POST", "/v1/timers/idle/"+id+"/"+call+"?wait=0s", nil).Status, "%s: %s", id, call)
		}
	}

	awaitWait(t, env, "idle/put", contract.Timer{WaitsFor: "worker"})
	paused := env.Do("POST", "/v1/emergency/pause", testenv.JSON{"everything": true, "note": "why"})
	require.Equal(t, http.StatusOK, paused.Status)
	require.Contains(t, string(paused.Body), `"everything":true,"author":"anonymous","note":"why"`)
	require.Equal(t, paused.Body, env.Do("POST", "/v1/emergency/pause", testenv.JSON{"everything": true}).Body, "it stays as it was")
	env.StartWorker()
	env.Await("idle/put", "delivering")
	awaitWait(t, env, "idle/put", contract.Timer{WaitsFor: "emergency", WaitsBy: "anonymous", WaitsNote: "why"})
	env.Await("idle/cancelled", "cancelled")
	for id, status := range map[string]string{"goes-on": "scheduled", "stays-so": "paused"} {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			timer := show(env, "idle/"+id)
			assert.Equal(c, 3, timer.Revision, "both were applied")
			assert.Equal(c, status, timer.Status)
		}, testenv.Patience, 50*time.Millisecond, "the worker applies them")
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, string(env.Do("GET", "/readyz", nil).Body), `"note":"all callbacks are paused since `)
	}, testenv.Patience, 100*time.Millisecond, "the readiness probe is asked once a second")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, string(env.Do("GET", "/metrics", nil).Body), `wakecall_emergency_paused{business_type="*"} 1`)
	}, testenv.Patience, 100*time.Millisecond, "a worker looks every second")
	require.Empty(t, append(r.Calls("put"), append(r.Calls("post"), r.Calls("pushed")...)...))
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/emergency/pause", testenv.JSON{"business_types": []string{"other"}}).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, string(env.Do("GET", "/v1/emergency", nil).Body), `"business_type":"other"`)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	left := env.Do("POST", "/v1/emergency/resume", testenv.JSON{"everything": true})
	require.Contains(t, string(left.Body), `{"paused":[{"business_type":"other",`, "what was paused by its name is left")
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/emergency/resume", testenv.JSON{"business_types": []string{"other"}}).Status)
	require.JSONEq(t, `{"paused":[]}`, string(env.Do("POST", "/v1/emergency/resume", testenv.JSON{"everything": true}).Body))
	r.Await(t, "put", 1)
	require.Equal(t, "2", r.Await(t, "post", 1)[0].Header.Get("Wakecall-Revision"), "the change came before any callback")
	env.Await("idle/cancelled", "cancelled")
	env.Await("idle/pushed", "delivered")
	calls := r.Calls("pushed")
	require.Len(t, calls, 1)
	require.Equal(t, `"the last one"`, string(calls[0].Body))
	revision, err := strconv.Atoi(calls[0].Header.Get("Wakecall-Revision"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, revision, 101, "each one took effect")
	require.LessOrEqual(t, revision, int(sent.Load())+1)
	require.False(t, calls[0].At.Before(pushed.Add(2*time.Second)), "each one pushed it out")
	require.Empty(t, r.Calls("cancelled"))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusOK, env.Do("GET", "/readyz", nil).Status)
	}, testenv.Patience, 100*time.Millisecond, "the readiness probe is asked once a second")
}

func TestBatch(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	env.Add(sample.Booking(kind, "there", "1h", r.URL))
	bad := sample.Booking(kind, "bad id", "1h", r.URL)
	reply := env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": []any{
		sample.Booking(kind, "new", "1h", r.URL), bad, sample.Booking(kind, "there", "1h", r.URL), sample.Booking(kind, "there", "2h", r.URL), 7,
	}})
	require.Equal(t, http.StatusOK, reply.Status)
	var batch struct {
		Results []struct {
			Status  int
			Timer   *testenv.Timer
			Problem *testenv.Problem
		}
	}
	reply.Into(&batch)
	var statuses []int
	for _, result := range batch.Results {
		statuses = append(statuses, result.Status)
	}
	require.Equal(t, []int{201, 422, 200, 409, 400}, statuses, "one result for each item, in order")
	require.Equal(t, "new", batch.Results[0].Timer.BusinessID)
	require.Equal(t, "/business_id", batch.Results[1].Problem.Errors[0].Pointer)

	full := make([]any, 1000)
	for i := range full {
		full[i] = sample.Booking(kind, "m-"+time.Duration(i).String(), "1h", r.URL)
	}
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": full}).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": append(full, 1)}).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": []any{}}).Status)
}

func TestList(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Add(sample.Booking(kind, "soon", "1h", r.URL))
	later := env.Add(sample.Booking(kind, "later", "3h", r.URL))
	env.Add(sample.Booking(kind, "delivered", "0s", r.URL))
	env.Add(sample.Booking(kind, "failed", "0s", r.On("/gone", receiver.Status(http.StatusGone))))
	cancelled := env.Add(sample.Booking(kind, "cancelled", "1h", r.URL))
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil)
	for id, extra := range map[string]testenv.JSON{
		"delivering": {"retry": testenv.JSON{"steps": []string{"1h"}}},
		"expired":    {"retry": testenv.JSON{"steps": []string{"1h"}}, "expires_after": "100ms"},
	} {
		body := sample.Booking(kind, id, "0s", r.On("/busy", receiver.Status(500)))
		for k, v := range extra {
			body[k] = v
		}
		env.Add(body)
	}
	list := func(query string) (ids []string) {
		var page struct{ Timers []testenv.Timer }
		env.Do("GET", "/v1/timers?business_type="+kind+query, nil).Into(&page)
		for _, timer := range page.Timers {
			ids = append(ids, timer.BusinessID)
		}
		return ids
	}
	env.Await(kind+"/expired", "expired")
	for query, want := range map[string][]string{
		"":                   {"soon", "later", "delivered", "failed", "cancelled", "delivering", "expired"},
		"&status=scheduled":  {"soon", "later"},
		"&business_id=later": {"later"},
		"&business_id=late":  nil,
		"&status=delivered":  {"delivered"},
		"&status=failed":     {"failed"},
		"&status=cancelled":  {"cancelled"},
		"&status=delivering": {"delivering"},
		"&status=expired":    {"expired"},
		"&status=scheduled&due_from=" + later.DueAt.Format(time.RFC3339Nano):                          {"later"},
		"&status=cancelled&due_to=" + cancelled.DueAt.Format(time.RFC3339Nano):                        {"cancelled"},
		"&status=cancelled&due_to=" + cancelled.DueAt.Add(-time.Millisecond).Format(time.RFC3339Nano): nil,
	} {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.ElementsMatch(c, want, list(query), query)
		}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	items := make([]any, 25)
	for i := range items {
		items[i] = sample.Booking(kind, time.Duration(i).String(), "1h", r.URL)
	}
	env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": items})
	path := "/v1/timers?page_size=10&business_type=" + kind
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		seen, token, pages := map[string]bool{}, "", 0
		for pages = 0; pages == 0 || token != ""; pages++ {
			var page struct {
				Timers []testenv.Timer
				Next   string `json:"next_page_token"`
			}
			env.Do("GET", path+"&page_token="+token, nil).Into(&page)
			for _, timer := range page.Timers {
				seen[timer.BusinessID] = true
			}
			token = page.Next
		}
		assert.Len(c, seen, 25)
		assert.GreaterOrEqual(c, pages, 3)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")

	var page struct {
		Next string `json:"next_page_token"`
	}
	env.Do("GET", path, nil).Into(&page)
	require.NotEmpty(t, page.Next)
	for _, bad := range []string{"x", page.Next + "A", "AAAAAAAAAAAAAAAAAAAA"} {
		require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", path+"&page_token="+bad, nil).Status, bad)
	}
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", path+"&status=failed&page_token="+page.Next, nil).Status,
		"a token is good for its own filter only")
}
