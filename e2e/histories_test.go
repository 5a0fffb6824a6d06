package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistories writes a history of each kind into workflows/testdata,
// for the replay test to hold for ever. It runs only when asked (make
// histories), and never replaces one: a history that no longer replays is a
// broken promise to timers that are waiting.
func TestRecordHistories(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	retrying := testenv.JSON{"steps": []string{"10ms", "1h"}}
	busy := r.On("/busy", receiver.Status(500))

	env.Add(booking(kind, "delivered", "1s", r.URL))
	rec.finished(kind, "delivered", "delivered")

	body := booking(kind, "retried", "0s", r.On("/twice", receiver.FailFirst(2)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms", "10ms"}}
	env.Add(body)
	rec.finished(kind, "retried", "delivered")

	body = booking(kind, "failed", "0s", busy)
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	rec.finished(kind, "failed", "failed")

	env.Add(booking(kind, "stopped", "0s", r.On("/gone", receiver.Status(http.StatusGone))))
	rec.finished(kind, "stopped", "failed")

	body = booking(kind, "expired", "0s", busy)
	body["retry"], body["expires_after"] = retrying, "300ms"
	env.Add(body)
	rec.finished(kind, "expired", "expired")

	env.Add(booking(kind, "cancelled", "1h", r.URL))
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil)
	rec.finished(kind, "cancelled", "cancelled")

	body = booking(kind, "cancelled-delivering", "0s", busy)
	body["retry"] = retrying
	env.Add(body)
	r.Await(t, "cancelled-delivering", 2)
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled-delivering", nil)
	rec.finished(kind, "cancelled-delivering", "cancelled")

	first := env.Do("PUT", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL}}).Timer()
	env.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "1s", "payload": 1})
	rec.run("moved-away", kind+"/moved", first.RunID)
	rec.finished(kind, "moved", "delivered")

	body = booking(kind, "moved-delivering", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	first = env.Add(body)
	r.Await(t, "moved-delivering", 1)
	env.Await(kind+"/moved-delivering", "delivering")
	env.Do("PATCH", "/v1/timers/"+kind+"/moved-delivering", testenv.JSON{"delay": "10ms"})
	rec.run("moved-delivering-away", kind+"/moved-delivering", first.RunID)
	rec.finished(kind, "moved-delivering", "delivered")

	answer := make(chan int)
	env.Add(booking(kind, "collided", "0s", r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })))
	r.Await(t, "collided", 1)
	env.Do("DELETE", "/v1/timers/"+kind+"/collided?wait=10ms", nil)
	answer <- http.StatusOK
	rec.finished(kind, "collided", "delivered")

	elsewhere(t, kind)
	recorder{t: t, h: leftReceipt(t, kind+".left")}.run("receipt-left", kind+".left/1", "")
	recordRecurring(rec, r, kind+".recurring")
	recordPolicies(t, rec, r, kind+".governed")
	rec.run("probe", workflows.ProbeID, "")
}

// recordRecurring records single runs of timers that ring again.
func recordRecurring(rec recorder, r *receiver.Receiver, kind string) {
	env := rec.h
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	first := env.Add(repeating(kind, "recurring", testenv.JSON{"every": "1s", "max_occurrences": 2}))
	rec.finished(kind, "recurring", "delivered")
	rec.run("recurring-goes-on", kind+"/recurring", first.RunID)

	body := repeating(kind, "recurring-failing", testenv.JSON{"every": "1s", "on_failure": "pause"})
	body["callback"] = testenv.JSON{"url": r.URL + "/busy"}
	first = env.Add(body)
	env.Await(kind+"/recurring-failing", "paused")
	rec.run("recurring-failing", kind+"/recurring-failing", first.RunID)
	paused := env.Get(kind + "/recurring-failing").RunID
	env.Do("POST", "/v1/timers/"+kind+"/recurring-failing/resume", nil)
	rec.run("recurring-resumed", kind+"/recurring-failing", paused)
	env.Do("DELETE", "/v1/timers/"+kind+"/recurring-failing", nil)

	overslept := recurrence.Rule{Every: pointer(wire.Duration(time.Hour)), Missed: recurrence.MissedFireOnce}
	spec, err := timer.Admit(wire.Key{BusinessType: kind, BusinessID: "made-up"}, timer.Terms{Recurrence: &overslept}, "booking", time.Now().Add(-6*time.Hour-time.Minute))
	require.NoError(rec.t, err)
	spec.Behaviour = workflows.BehaviourNow
	env.Start(spec)
	r.Await(rec.t, "made-up", 1)
	made := rec.first(spec.String())
	rings := rec.next(spec.String(), made)
	rec.next(spec.String(), rings) // it has ended
	rec.run("recurring-made-up", spec.String(), made)
	rec.run("recurring-made-up-rings", spec.String(), rings)
	env.Do("DELETE", "/v1/timers/"+spec.String(), nil)
}

// TestRecordHistoriesOfEnds records what tells of an end, and a timer that is tried again.
func TestRecordHistoriesOfEnds(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "on_delivered": testenv.JSON{"url": r.URL + "/told"}})
	first := env.Add(testenv.JSON{"business_type": kind, "business_id": "outcome", "delay": "1s"})
	rec.finished(kind, "outcome", "delivered")
	alert := workflows.AlertID(timer.EventDelivered, "outcome:"+first.RunID)
	require.NoError(t, env.Client.GetWorkflow(t.Context(), alert, "").Get(t.Context(), nil))
	rec.run("alert", alert, "")

	body := booking(kind, "redelivered", "0s", r.On("/twice-more", receiver.FailFirst(2)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	env.Await(kind+"/redelivered", "failed")
	again := env.Do("POST", "/v1/timers/"+kind+"/redelivered/redeliver", nil)
	require.Less(t, again.Status, 300, "%s", again.Body)
	rec.finished(kind, "redelivered", "delivered")
}

// recordPolicies records entities that were changed, held back and deleted, and
// what a type with a limit does.
func recordPolicies(t *testing.T, rec recorder, r *receiver.Receiver, kind string) {
	env := rec.h
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
	rec.finished(kind, "limited", "delivered")
	policy["paused"] = true
	env.Policy(kind, policy)
	policy["callback"] = testenv.JSON{"url": r.On("/never", receiver.Status(http.StatusGone))}
	policy["paused"] = false
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "alerted", "delay": "1s"})
	rec.finished(kind, "alerted", "failed")
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.run("policy", workflows.PolicyID(kind), "")
	rec.run("registry", workflows.RegistryID, "")
}

// elsewhere records a task that was handed out again to another worker, which
// asked the first one. Temporal hands a task to whoever asked for one last: to
// the worker that starts while the first one is ringing.
func elsewhere(t *testing.T, kind string) {
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r := testenv.Open(t, addr), receiver.New(t)
	testenv.Open(t, addr).StartWorker()
	answer := make(chan int)
	url := r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	for n := 0; ; n++ {
		id := "collided-" + strconv.Itoa(n)
		env.Add(booking(kind, id, "0s", url))
		r.Await(t, id, 1)
		testenv.Open(t, addr).StartWorker()
		env.Do("DELETE", "/v1/timers/"+kind+"/"+id+"?wait=500ms", nil)
		answer <- http.StatusOK
		env.Await(kind+"/"+id, "delivered")
		if strings.Contains(everything(t, env, kind+"/"+id), workflows.ReceiptQueue("")) {
			recorder{t: t, h: env}.run("collided-elsewhere", kind+"/"+id, "")
			return
		}
	}
}

// Timers that a worker held and did not ring.
func TestRecordHistoriesOfHeldTimers(t *testing.T) {
	onlyToRecord(t)
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), typeOf(t)
	rec := recorder{t: t, h: env}
	env.StartWorker()
	for scenario, moved := range map[string]any{"held-cancelled": nil, "held-moved": testenv.JSON{"delay": "1h"}} {
		id := bookHeld(t, env, kind, r.URL)
		path, run := kind+"/"+id, env.Get(kind+"/"+id).RunID
		method := map[bool]string{true: "DELETE", false: "PATCH"}[moved == nil]
		require.Equal(t, http.StatusOK, env.Do(method, "/v1/timers/"+path, moved).Status)
		rec.run(scenario, path, run)
		rec.run("nudge", workflows.NotifyID(run), "")
		env.Do("DELETE", "/v1/timers/"+path, nil)
	}
	id := bookHeld(t, env, kind, r.URL)
	run := env.Get(kind + "/" + id).RunID
	env.StopWorker()
	rec.run("handed-back", kind+"/"+id, run)
}

// onlyToRecord skips a test that records, unless that is what is asked for.
func onlyToRecord(t *testing.T) {
	t.Helper()
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
}

type recorder struct {
	t *testing.T
	h *testenv.Env
}

// finished waits for a timer's end and writes its last run, named by its id.
func (r recorder) finished(kind, id, status string) {
	r.t.Helper()
	r.h.Await(kind+"/"+id, status)
	r.run(id, kind+"/"+id, "")
}

// first is the first run of a workflow.
func (r recorder) first(workflowID string) (runID string) {
	r.t.Helper()
	event, err := r.h.Client.GetWorkflowHistory(r.t.Context(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	require.NoError(r.t, err)
	return event.GetWorkflowExecutionStartedEventAttributes().GetFirstExecutionRunId()
}

// next is the run in which a run goes on, once it does.
func (r recorder) next(workflowID, run string) (runID string) {
	r.t.Helper()
	event, err := r.h.Client.GetWorkflowHistory(r.t.Context(), workflowID, run, true, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	require.NoError(r.t, err)
	next := event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	require.NotEmpty(r.t, next)
	return next
}

func (r recorder) run(name, workflowID, runID string) {
	r.t.Helper()
	file := filepath.Join("..", "workflows", "testdata", "v"+strconv.Itoa(workflows.BehaviourNow), name+".json")
	if _, err := os.Stat(file); err == nil {
		return
	}
	require.NoError(r.t, os.MkdirAll(filepath.Dir(file), 0o755))
	var history historypb.History
	events := r.h.Client.GetWorkflowHistory(r.t.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(r.t, err)
		history.Events = append(history.Events, event)
	}
	text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&history)
	require.NoError(r.t, err)
	require.NoError(r.t, os.WriteFile(file, append(text, '\n'), 0o644))
}

// TestRecordHistoriesOfRetries records what follows a first attempt.
func TestRecordHistoriesOfRetries(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	held := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "paused": true, "expires_after": "1s"}
	env.Policy(kind, held)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "expired-held", "delay": "0s"})
	rec.finished(kind, "expired-held", "expired")

	held["expires_after"] = "4s"
	env.Policy(kind, held)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "put-off", "delay": "0s"})
	env.Await(kind+"/put-off", "delivering")
	held["expires_after"] = "8s"
	env.Policy(kind, held)
	rec.finished(kind, "put-off", "expired")

	path := kind + ".other/woken"
	body := booking(kind+".other", "woken", "0s", r.On("/busy", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1s"}}
	env.Add(body)
	env.Await(path, "delivering")
	wake := timer.Change{ID: "wake", Wake: true, At: wire.At(time.Now())}
	require.NoError(t, env.Client.SignalWorkflow(t.Context(), path, "", workflows.SignalChange, wake))
	rec.finished(kind+".other", "woken", "delivered")

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/patience", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "pressed", "delay": "0s"})
	awaitPressure(t, env, kind)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"/back_pressure", nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.run("policy-lifted", workflows.PolicyID(kind), "")
	env.Do("DELETE", "/v1/timers/"+kind+"/pressed", nil)
}

// TestRecordHistoriesOfLinks records timers whose receivers connect, and those that went by
// a second link.
func TestRecordHistoriesOfLinks(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	stream, second := testenv.JSON{"stream": true}, testenv.JSON{"url": r.URL, "after": "1s"}
	env.Policy(kind, testenv.JSON{"callback": stream, "fallback": second})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "fallback-of-a-stream", "delay": "0s"})
	rec.finished(kind, "fallback-of-a-stream", "delivered")

	env.Policy(kind+".stream", testenv.JSON{"callback": stream})
	l := listen(t, env, kind+".stream")
	env.Add(testenv.JSON{"business_type": kind + ".stream", "business_id": "streamed", "delay": "1s"})
	l.ack(l.next())
	rec.finished(kind+".stream", "streamed", "delivered")

	down := testenv.JSON{"url": r.On("/down", receiver.Status(http.StatusServiceUnavailable))}
	env.Policy(kind+".http", testenv.JSON{"callback": down, "fallback": second})
	env.Add(testenv.JSON{"business_type": kind + ".http", "business_id": "fallback", "delay": "0s"})
	rec.finished(kind+".http", "fallback", "delivered")

	env.Policy(kind+".last", testenv.JSON{
		"callback": down, "fallback": testenv.JSON{"stream": true, "after": "1s"}, "retry": testenv.JSON{"steps": []string{"1s", "1s", "1h"}},
	})
	env.Add(testenv.JSON{"business_type": kind + ".last", "business_id": "stream-as-the-fallback", "delay": "0s"})
	r.Await(t, "stream-as-the-fallback", 3)
	l = listen(t, env, kind+".last")
	l.ack(l.next())
	rec.finished(kind+".last", "stream-as-the-fallback", "delivered")
}

// What receivers say, or do not say, of what they accepted.
func TestRecordHistoriesOfAcknowledgements(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec, say := recorder{t: t, h: env}, env.Wakecall().Deliveries
	accepts(env, r, kind, nil)
	_, delivery := accepted(t, env, r, nth{kind + "/acked", 1})
	_, _, err := say.Ack(t.Context(), delivery, patient)
	require.NoError(t, err)
	rec.finished(kind, "acked", "delivered")

	_, delivery = accepted(t, env, r, nth{kind + "/nacked", 1})
	_, _, err = say.Nack(t.Context(), delivery, client.Failure{Reason: "out of stock"})
	require.NoError(t, err)
	_, delivery = accepted(t, env, r, nth{kind + "/nacked", 2})
	_, _, err = say.Ack(t.Context(), delivery, patient)
	require.NoError(t, err)
	rec.finished(kind, "nacked", "delivered")

	accepted(t, env, r, nth{kind + "/ack-cancelled", 1})
	env.Do("DELETE", "/v1/timers/"+kind+"/ack-cancelled", nil)
	rec.finished(kind, "ack-cancelled", "cancelled")

	silent := kind + ".silent"
	accepts(env, r, silent, testenv.JSON{"ack": testenv.JSON{"within": "1s"}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	env.Add(testenv.JSON{"business_type": silent, "business_id": "unacknowledged", "delay": "0s"})
	rec.finished(silent, "unacknowledged", "failed")
}

func TestRecordHistoriesOfBulk(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	for n := range 3 {
		env.Add(booking(kind, strconv.Itoa(n), "1h", r.URL))
	}

	awaitShown(t, env, client.Filter{BusinessType: kind}, 3)
	bulkEnded(t, env, client.BulkOrder{ID: kind, Operation: job.Move, Filter: timer.Filter{BusinessType: kind}, Shift: wire.Duration(time.Minute)})
	recorder{t: t, h: env}.run("bulk", workflows.BulkJob.WorkflowID(kind), "")
	slow := client.BulkOrder{ID: kind + ".stopped", Operation: job.Cancel, Filter: timer.Filter{BusinessType: kind}, PerSecond: 1}
	_, _, err := env.Wakecall().Bulk.Start(t.Context(), slow)
	require.NoError(t, err)
	awaitBulk(t, env, slow.ID, func(job client.BulkJob) bool { return job.Done > 0 })
	_, err = env.Wakecall().Bulk.Stop(t.Context(), slow.ID)
	require.NoError(t, err)
	awaitBulk(t, env, slow.ID, client.BulkJob.Ended)
	recorder{t: t, h: env}.run("bulk-stopped", workflows.BulkJob.WorkflowID(slow.ID), "")
}
