package deliveries

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistories writes a history of each kind into workflows/testdata,
// for the replay test to hold for ever. It runs only when asked (make
// histories), and never replaces one: a history that no longer replays is a
// broken promise to timers that are waiting.
func TestRecordHistories(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	retrying := testenv.JSON{"steps": []string{"10ms", "1h"}}
	busy := r.On("/busy", receiver.Status(500))

	env.Add(sample.Booking(kind, "delivered", "1s", r.URL))
	rec.Finished(kind, "delivered", "delivered")

	body := sample.Booking(kind, "retried", "0s", r.On("/twice", receiver.FailFirst(2)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms", "10ms"}}
	env.Add(body)
	rec.Finished(kind, "retried", "delivered")

	body = sample.Booking(kind, "failed", "0s", busy)
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	rec.Finished(kind, "failed", "failed")

	env.Add(sample.Booking(kind, "stopped", "0s", r.On("/gone", receiver.Status(http.StatusGone))))
	rec.Finished(kind, "stopped", "failed")

	body = sample.Booking(kind, "expired", "0s", busy)
	body["retry"], body["expires_after"] = retrying, "300ms"
	env.Add(body)
	rec.Finished(kind, "expired", "expired")

	env.Add(sample.Booking(kind, "cancelled", "1h", r.URL))
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil)
	rec.Finished(kind, "cancelled", "cancelled")

	body = sample.Booking(kind, "cancelled-delivering", "0s", busy)
	body["retry"] = retrying
	env.Add(body)
	r.Await(t, "cancelled-delivering", 2)
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled-delivering", nil)
	rec.Finished(kind, "cancelled-delivering", "cancelled")

	first := env.Do("PUT", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL}}).Timer()
	env.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "1s", "payload": 1})
	rec.Run("moved-away", kind+"/moved", first.RunID)
	rec.Finished(kind, "moved", "delivered")

	body = sample.Booking(kind, "moved-delivering", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	first = env.Add(body)
	r.Await(t, "moved-delivering", 1)
	env.Await(kind+"/moved-delivering", "delivering")
	env.Do("PATCH", "/v1/timers/"+kind+"/moved-delivering", testenv.JSON{"delay": "10ms"})
	rec.Run("moved-delivering-away", kind+"/moved-delivering", first.RunID)
	rec.Finished(kind, "moved-delivering", "delivered")

	answer := make(chan int)
	env.Add(sample.Booking(kind, "collided", "0s", r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })))
	r.Await(t, "collided", 1)
	env.Do("DELETE", "/v1/timers/"+kind+"/collided?wait=10ms", nil)
	answer <- http.StatusOK
	rec.Finished(kind, "collided", "delivered")

	elsewhere(t, kind)
	testenv.Recorder{T: t, H: leftReceipt(t, kind+".left")}.Run("receipt-left", kind+".left/1", "")
	recordRecurring(rec, r, kind+".recurring")
	recordPolicies(t, rec, r, kind+".governed")
	rec.Run("probe", workflows.ProbeID, "")
}

// recordRecurring records single runs of timers that ring again.
func recordRecurring(rec testenv.Recorder, r *receiver.Receiver, kind string) {
	env := rec.H
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	first := env.Add(sample.Repeating(kind, "recurring", testenv.JSON{"every": "1s", "max_occurrences": 2}))
	rec.Finished(kind, "recurring", "delivered")
	rec.Run("recurring-goes-on", kind+"/recurring", first.RunID)

	body := sample.Repeating(kind, "recurring-failing", testenv.JSON{"every": "1s", "on_failure": "pause"})
	body["callback"] = testenv.JSON{"url": r.URL + "/busy"}
	first = env.Add(body)
	env.Await(kind+"/recurring-failing", "paused")
	rec.Run("recurring-failing", kind+"/recurring-failing", first.RunID)
	paused := env.Get(kind + "/recurring-failing").RunID
	env.Do("POST", "/v1/timers/"+kind+"/recurring-failing/resume", nil)
	rec.Run("recurring-resumed", kind+"/recurring-failing", paused)
	env.Do("DELETE", "/v1/timers/"+kind+"/recurring-failing", nil)

	overslept := recurrence.Rule{Every: new(wire.Duration(time.Hour)), Missed: recurrence.MissedFireOnce}
	spec, err := timer.Admit(wire.Key{BusinessType: kind, BusinessID: "made-up"}, timer.Terms{Recurrence: &overslept}, "booking", time.Now().Add(-6*time.Hour-time.Minute))
	require.NoError(rec.T, err)
	spec.Behaviour = workflows.BehaviourNow
	env.Start(spec)
	r.Await(rec.T, "made-up", 1)
	made := rec.First(spec.String())
	rings := rec.Next(spec.String(), made)
	rec.Next(spec.String(), rings) // it has ended
	rec.Run("recurring-made-up", spec.String(), made)
	rec.Run("recurring-made-up-rings", spec.String(), rings)
	env.Do("DELETE", "/v1/timers/"+spec.String(), nil)
}

// TestRecordHistoriesOfEnds records what tells of an end, and a timer that is tried again.
func TestRecordHistoriesOfEnds(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "on_delivered": testenv.JSON{"url": r.URL + "/told"}})
	first := env.Add(testenv.JSON{"business_type": kind, "business_id": "outcome", "delay": "1s"})
	rec.Finished(kind, "outcome", "delivered")
	alert := workflows.AlertID(timer.EventDelivered, "outcome:"+first.RunID)
	require.NoError(t, env.Client.GetWorkflow(t.Context(), alert, "").Get(t.Context(), nil))
	rec.Run("alert", alert, "")

	body := sample.Booking(kind, "redelivered", "0s", r.On("/twice-more", receiver.FailFirst(2)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	env.Await(kind+"/redelivered", "failed")
	again := env.Do("POST", "/v1/timers/"+kind+"/redelivered/redeliver", nil)
	require.Less(t, again.Status, 300, "%s", again.Body)
	rec.Finished(kind, "redelivered", "delivered")
}

// TestRecordHistoryOfATestEvent records what an operator asks a receiver with.
func TestRecordHistoryOfATestEvent(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	var result delivery.TestResult
	env.Do("POST", "/v1/policies/"+kind+"/test", nil).Into(&result)
	require.True(t, result.Delivered)
	for back := range 5 { // its id names the second in which it was asked for
		id := workflows.TestRingID(kind, strconv.FormatInt(result.SentAt.Time().Unix()-int64(back), 10))
		if timer.MessageID(id) == result.WebhookID {
			testenv.Recorder{T: t, H: env}.Run("test-event", id, "")
			return
		}
	}
	require.Fail(t, "no run has the id of the event")
}

// recordPolicies records entities that were changed, held back and deleted, and
// what a type with a limit does.
func recordPolicies(t testing.TB, rec testenv.Recorder, r *receiver.Receiver, kind string) {
	env := rec.H
	r.On("/patience", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	policy := testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/patience"}, "retry": testenv.JSON{"steps": []string{"10ms"}},
		"limits": testenv.JSON{"callbacks_per_second": 100}, "alert": testenv.JSON{"url": r.URL},
	}
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "limited", "delay": "0s"})
	rec.Finished(kind, "limited", "delivered")
	policy["paused"] = true
	env.Policy(kind, policy)
	policy["callback"] = testenv.JSON{"url": r.On("/never", receiver.Status(http.StatusGone))}
	policy["paused"] = false
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "alerted", "delay": "1s"})
	rec.Finished(kind, "alerted", "failed")
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.Run("policy", workflows.PolicyID(kind), "")
	rec.Run("registry", workflows.RegistryID, "")
}

// elsewhere records a task that was handed out again to another worker, which
// asked the first one. Temporal hands a task to whoever asked for one last: to
// the worker that starts while the first one is ringing.
func elsewhere(t testing.TB, kind string) {
	addr := testenv.Alone(t)
	env, r := testenv.Open(t, addr), receiver.New(t)
	testenv.Open(t, addr).StartWorker()
	answer := make(chan int)
	url := r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	for n := 0; ; n++ {
		id := "collided-" + strconv.Itoa(n)
		env.Add(sample.Booking(kind, id, "0s", url))
		r.Await(t, id, 1)
		testenv.Open(t, addr).StartWorker()
		env.Do("DELETE", "/v1/timers/"+kind+"/"+id+"?wait=500ms", nil)
		answer <- http.StatusOK
		env.Await(kind+"/"+id, "delivered")
		if strings.Contains(env.Stored(kind+"/"+id), workflows.ReceiptQueue("")) {
			testenv.Recorder{T: t, H: env}.Run("collided-elsewhere", kind+"/"+id, "")
			return
		}
	}
}

// Timers that a worker held and did not ring.
func TestRecordHistoriesOfHeldTimers(t *testing.T) {
	testenv.OnlyToRecord(t)
	addr := testenv.Alone(t)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	rec := testenv.Recorder{T: t, H: env}
	env.StartWorker()
	for scenario, moved := range map[string]any{"held-cancelled": nil, "held-moved": testenv.JSON{"delay": "1h"}} {
		id := bookHeld(t, env, kind, r.URL)
		path, run := kind+"/"+id, env.Get(kind+"/"+id).RunID
		method := map[bool]string{true: "DELETE", false: "PATCH"}[moved == nil]
		require.Equal(t, http.StatusOK, env.Do(method, "/v1/timers/"+path, moved).Status)
		rec.Run(scenario, path, run)
		rec.Run("nudge", workflows.NotifyID(run), "")
		env.Do("DELETE", "/v1/timers/"+path, nil)
	}
	id := bookHeld(t, env, kind, r.URL)
	run := env.Get(kind + "/" + id).RunID
	env.StopWorker()
	rec.Run("handed-back", kind+"/"+id, run)
}

// TestRecordHistoriesOfRetries records what follows a first attempt.
func TestRecordHistoriesOfRetries(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	held := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "paused": true, "expires_after": "1s"}
	env.Policy(kind, held)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "expired-held", "delay": "0s"})
	rec.Finished(kind, "expired-held", "expired")

	held["expires_after"] = "4s"
	env.Policy(kind, held)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "put-off", "delay": "0s"})
	env.Await(kind+"/put-off", "delivering")
	held["expires_after"] = "8s"
	env.Policy(kind, held)
	rec.Finished(kind, "put-off", "expired")

	path := kind + ".other/woken"
	body := sample.Booking(kind+".other", "woken", "0s", r.On("/busy", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1s"}}
	env.Add(body)
	env.Await(path, "delivering")
	wake := timer.Change{ID: "wake", Wake: true, At: wire.At(time.Now())}
	require.NoError(t, env.Client.SignalWorkflow(t.Context(), path, "", workflows.SignalChange, wake))
	rec.Finished(kind+".other", "woken", "delivered")

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/patience", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "pressed", "delay": "0s"})
	awaitPressure(t, env, kind)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"/back_pressure", nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.Run("policy-lifted", workflows.PolicyID(kind), "")
	env.Do("DELETE", "/v1/timers/"+kind+"/pressed", nil)
}

// TestRecordHistoriesOfLinks records timers whose receivers connect, and those that went by
// a second link.
func TestRecordHistoriesOfLinks(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	stream, second := testenv.JSON{"stream": true}, testenv.JSON{"url": r.URL, "after": "1s"}
	env.Policy(kind, testenv.JSON{"callback": stream, "fallback": second})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "fallback-of-a-stream", "delay": "0s"})
	rec.Finished(kind, "fallback-of-a-stream", "delivered")

	env.Policy(kind+".stream", testenv.JSON{"callback": stream})
	l := receiver.Listen(t, env.URL, kind+".stream")
	env.Add(testenv.JSON{"business_type": kind + ".stream", "business_id": "streamed", "delay": "1s"})
	l.Ack(l.Next())
	rec.Finished(kind+".stream", "streamed", "delivered")

	down := testenv.JSON{"url": r.On("/down", receiver.Status(http.StatusServiceUnavailable))}
	env.Policy(kind+".http", testenv.JSON{"callback": down, "fallback": second})
	env.Add(testenv.JSON{"business_type": kind + ".http", "business_id": "fallback", "delay": "0s"})
	rec.Finished(kind+".http", "fallback", "delivered")

	env.Policy(kind+".last", testenv.JSON{
		"callback": down, "fallback": testenv.JSON{"stream": true, "after": "1s"}, "retry": testenv.JSON{"steps": []string{"1s", "1s", "1h"}},
	})
	env.Add(testenv.JSON{"business_type": kind + ".last", "business_id": "stream-as-the-fallback", "delay": "0s"})
	r.Await(t, "stream-as-the-fallback", 3)
	l = receiver.Listen(t, env.URL, kind+".last")
	l.Ack(l.Next())
	rec.Finished(kind+".last", "stream-as-the-fallback", "delivered")
}

// What receivers say, or do not say, of what they accepted.
func TestRecordHistoriesOfAcknowledgements(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec, say := testenv.Recorder{T: t, H: env}, env.Wakecall().Deliveries
	testenv.Accepts(env, r, kind, nil)
	_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/acked", Number: 1})
	_, _, err := say.Ack(t.Context(), delivery, testenv.Patient)
	require.NoError(t, err)
	rec.Finished(kind, "acked", "delivered")

	_, delivery = testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/nacked", Number: 1})
	_, _, err = say.Nack(t.Context(), delivery, client.Failure{Reason: "out of stock"})
	require.NoError(t, err)
	_, delivery = testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/nacked", Number: 2})
	_, _, err = say.Ack(t.Context(), delivery, testenv.Patient)
	require.NoError(t, err)
	rec.Finished(kind, "nacked", "delivered")

	testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/ack-cancelled", Number: 1})
	env.Do("DELETE", "/v1/timers/"+kind+"/ack-cancelled", nil)
	rec.Finished(kind, "ack-cancelled", "cancelled")

	silent := kind + ".silent"
	testenv.Accepts(env, r, silent, testenv.JSON{"ack": testenv.JSON{"within": "1s"}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	env.Add(testenv.JSON{"business_type": silent, "business_id": "unacknowledged", "delay": "0s"})
	rec.Finished(silent, "unacknowledged", "failed")
}
