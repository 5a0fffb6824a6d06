package timers

import (
	"fmt"
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
		env.Add(sample.Booking(kind, "later", "15s", r.URL))
		moved := env.Do("PATCH", "/v1/timers/"+kind+"/later", testenv.JSON{"delay": "16s", "payload": testenv.JSON{"n": 2}})
		require.Equal(t, http.StatusOK, moved.Status)
		call := r.Await(t, "later", 1)[0]
		require.False(t, call.At.Before(moved.Timer().DueAt))
		require.JSONEq(t, `{"n":2}`, string(call.Body))
		env.Await(kind+"/later", "delivered")
		require.Len(t, r.Calls("later"), 1)
	})
	t.Run("twenty in a row, the last one wins", func(t *testing.T) {
		env.Add(sample.Booking(kind, "often", "1h", r.URL))
		sent := 0
		for range 19 {
			reply, times := sendPatiently(env, "PATCH", "/v1/timers/"+kind+"/often?wait=0s", testenv.JSON{"delay": "2h"})
			require.Contains(t, []int{http.StatusAccepted, http.StatusOK}, reply.Status, "it may have been applied at once")
			sent += times
		}
		last, times := sendPatiently(env, "PATCH", "/v1/timers/"+kind+"/often?wait=30s", testenv.JSON{"delay": "1s"})
		require.Equal(t, http.StatusOK, last.Status)
		require.GreaterOrEqual(t, last.Timer().Revision, 21)
		require.LessOrEqual(t, last.Timer().Revision, 1+sent+times, "it is 21 where Temporal answered each in time")
		call := r.Await(t, "often", 1)[0]
		require.Equal(t, strconv.Itoa(last.Timer().Revision), call.Header.Get("Wakecall-Revision"))
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
	addr := testenv.Alone(t)
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
	addr := testenv.Alone(t)
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
			put, times := sendPatiently(env, "PUT", "/v1/timers/idle/pushed?wait=0s", push)
			assert.Less(t, put.Status, 300)
			sent.Add(int64(times))
		})
	}
	clients.Wait()
	push["payload"], push["delay"] = "the last one", "2s"
	pushed := time.Now()
	last, times := sendPatiently(env, "PUT", "/v1/timers/idle/pushed?wait=0s", push)
	require.Equal(t, http.StatusAccepted, last.Status)
	sent.Add(int64(times))
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
	require.Contains(t, string(env.Do("GET", "/v1/timers/idle/put/why", nil).Body), `"everything":true`)
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
	require.LessOrEqual(t, revision, int(sent.Load()))
	require.False(t, calls[0].At.Before(pushed.Add(2*time.Second)), "each one pushed it out")
	require.Empty(t, r.Calls("cancelled"))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusOK, env.Do("GET", "/readyz", nil).Status)
	}, testenv.Patience, 100*time.Millisecond, "the readiness probe is asked once a second")
}

// Of changes that are made on the same revision at once one is made, through
// whichever gateway they come; and a cancel is made on what it names.
func TestIfMatchLetsOneThrough(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	other := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	for round := range 5 {
		id := fmt.Sprint(round)
		path := "/v1/timers/" + kind + "/" + id
		tag := env.Do("POST", "/v1/timers", sample.Booking(kind, id, "1h", r.URL)).Header.Get("ETag")
		replies := make([]testenv.Reply, 20)
		var group sync.WaitGroup
		for i := range replies {
			gateway := []*testenv.Env{env, other}[i%2]
			group.Go(func() {
				if i == 0 && round > 0 {
					replies[i] = testenv.SendIf(gateway, tag, gateway.Request("DELETE", path+"?wait=30s", nil))
					return
				}
				replies[i] = testenv.SendIf(gateway, tag, gateway.Request("PATCH", path+"?wait=30s", testenv.JSON{"delay": fmt.Sprintf("%dh", i+2)}))
			})
		}
		group.Wait()
		made := map[int]int{}
		for _, reply := range replies {
			made[reply.Status]++
		}
		end := env.Get(kind + "/" + id)
		if end.Status == "cancelled" {
			require.Equal(t, http.StatusOK, replies[0].Status)
			require.Equal(t, 1, end.Revision, "it was cancelled at the revision that was named")
		} else {
			require.Equal(t, 2, end.Revision, "one change was made")
		}
		require.Equal(t, 1, made[http.StatusOK], "round %d: %v", round, made)
		require.Zero(t, made[http.StatusAccepted], "%v", made)
	}
}

// sendPatiently repeats a change that was not taken in time, as the answer says, and counts how
// often it was sent.
func sendPatiently(env *testenv.Env, method, path string, body testenv.JSON) (reply testenv.Reply, sent int) {
	reply.Status = http.StatusServiceUnavailable
	for reply.Status == http.StatusServiceUnavailable {
		sent++
		reply = env.Send(env.Request(method, path, body))
	}
	return reply, sent
}

// The negative control of the leak check in TestMain: a wait that is under way
// in the engine is seen, and gone once it is over.
func TestLeakCheckSees(t *testing.T) {
	env := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	kind := sample.Type(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": "https://example.com/"}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	seen, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for hours := 2; ; hours++ { // a look takes a while, and may miss a wait
			select {
			case <-seen:
				return
			default:
				env.Do("PATCH", "/v1/timers/"+kind+"/1?wait=2s", testenv.JSON{"delay": strconv.Itoa(hours) + "h"})
			}
		}
	}()
	assert.Eventually(t, func() bool { return len(testenv.Running()) > 0 }, testenv.Patience, time.Millisecond, "the wait is under way")
	close(seen)
	<-done
}
