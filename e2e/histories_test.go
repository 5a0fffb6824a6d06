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

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistories writes a history of each kind into workflows/testdata,
// for the replay test to hold for ever. It runs only when asked (make
// histories), and never replaces one: a history that no longer replays is a
// broken promise to timers that are waiting.
func TestRecordHistories(t *testing.T) {
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
	h, r, kind := open(t)
	rec := recorder{t: t, h: h}
	retrying := house.JSON{"steps": []string{"10ms", "1h"}}
	busy := r.On("/busy", receiver.Status(500))

	h.Add(booking(kind, "delivered", "1s", r.URL))
	rec.finished(kind, "delivered", "delivered")

	body := booking(kind, "retried", "0s", r.On("/twice", receiver.FailFirst(2)))
	body["retry"] = house.JSON{"steps": []string{"10ms", "10ms"}}
	h.Add(body)
	rec.finished(kind, "retried", "delivered")

	body = booking(kind, "failed", "0s", busy)
	body["retry"] = house.JSON{"steps": []string{"10ms"}}
	h.Add(body)
	rec.finished(kind, "failed", "failed")

	h.Add(booking(kind, "stopped", "0s", r.On("/gone", receiver.Status(http.StatusGone))))
	rec.finished(kind, "stopped", "failed")

	body = booking(kind, "expired", "0s", busy)
	body["retry"], body["expires_after"] = retrying, "300ms"
	h.Add(body)
	rec.finished(kind, "expired", "expired")

	h.Add(booking(kind, "cancelled", "1h", r.URL))
	h.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil)
	rec.finished(kind, "cancelled", "cancelled")

	body = booking(kind, "cancelled-delivering", "0s", busy)
	body["retry"] = retrying
	h.Add(body)
	r.Await(t, "cancelled-delivering", 2)
	h.Do("DELETE", "/v1/timers/"+kind+"/cancelled-delivering", nil)
	rec.finished(kind, "cancelled-delivering", "cancelled")

	first := h.Do("PUT", "/v1/timers/"+kind+"/moved", house.JSON{"delay": "1h", "callback": house.JSON{"url": r.URL}}).Timer()
	h.Do("PATCH", "/v1/timers/"+kind+"/moved", house.JSON{"delay": "1s", "payload": 1})
	rec.run("moved-away", kind+"/moved", first.RunID)
	rec.finished(kind, "moved", "delivered")

	body = booking(kind, "moved-delivering", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = house.JSON{"steps": []string{"1h"}}
	first = h.Add(body)
	r.Await(t, "moved-delivering", 1)
	h.Await(kind+"/moved-delivering", "delivering")
	h.Do("PATCH", "/v1/timers/"+kind+"/moved-delivering", house.JSON{"delay": "10ms"})
	rec.run("moved-delivering-away", kind+"/moved-delivering", first.RunID)
	rec.finished(kind, "moved-delivering", "delivered")

	answer := make(chan int)
	h.Add(booking(kind, "collided", "0s", r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })))
	r.Await(t, "collided", 1)
	h.Do("DELETE", "/v1/timers/"+kind+"/collided?wait=10ms", nil)
	answer <- http.StatusOK
	rec.finished(kind, "collided", "delivered")

	elsewhere(t, kind)
	recordRecurring(rec, r, kind+".recurring")
	recordPolicies(t, rec, r, kind+".governed")
	rec.run("probe", workflows.ProbeID, "")
}

// recordRecurring records single runs of timers that ring again.
func recordRecurring(rec recorder, r *receiver.Receiver, kind string) {
	h := rec.h
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "retry": house.JSON{"steps": []string{"10ms"}}})
	first := h.Add(repeating(kind, "recurring", house.JSON{"every": "1s", "max_occurrences": 2}))
	rec.finished(kind, "recurring", "delivered")
	rec.run("recurring-goes-on", kind+"/recurring", first.RunID)

	body := repeating(kind, "recurring-failing", house.JSON{"every": "1s", "on_failure": "pause"})
	body["callback"] = house.JSON{"url": r.URL + "/busy"}
	first = h.Add(body)
	h.Await(kind+"/recurring-failing", "paused")
	rec.run("recurring-failing", kind+"/recurring-failing", first.RunID)
	paused := h.Get(kind + "/recurring-failing").RunID
	h.Do("POST", "/v1/timers/"+kind+"/recurring-failing/resume", nil)
	rec.run("recurring-resumed", kind+"/recurring-failing", paused)
	h.Do("DELETE", "/v1/timers/"+kind+"/recurring-failing", nil)
}

// recordPolicies records entities that were changed, held back and deleted, and
// what a type with a limit does.
func recordPolicies(t *testing.T, rec recorder, r *receiver.Receiver, kind string) {
	h := rec.h
	r.On("/patience", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	policy := house.JSON{
		"callback": house.JSON{"url": r.URL + "/patience"}, "retry": house.JSON{"steps": []string{"10ms"}},
		"limits": house.JSON{"callbacks_per_second": 100}, "alert": house.JSON{"url": r.URL},
	}
	h.Policy(kind, policy)
	h.Add(house.JSON{"business_type": kind, "business_id": "limited", "delay": "0s"})
	rec.finished(kind, "limited", "delivered")
	policy["paused"] = true
	h.Policy(kind, policy)
	policy["callback"] = house.JSON{"url": r.On("/never", receiver.Status(http.StatusGone))}
	policy["paused"] = false
	h.Policy(kind, policy)
	h.Add(house.JSON{"business_type": kind, "business_id": "alerted", "delay": "1s"})
	rec.finished(kind, "alerted", "failed")
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.run("policy", workflows.PolicyID(kind), "")
	rec.run("registry", workflows.RegistryID, "")
}

// elsewhere records a task that was handed out again to another worker, which
// asked the first one. Temporal hands a task to whoever asked for one last: to
// the worker that starts while the first one is ringing.
func elsewhere(t *testing.T, kind string) {
	addr, stop, err := house.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	h, r := house.Open(t, addr), receiver.New(t)
	house.Open(t, addr).StartWorker()
	answer := make(chan int)
	url := r.On("/slow", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	for n := 0; ; n++ {
		id := "collided-" + strconv.Itoa(n)
		h.Add(booking(kind, id, "0s", url))
		r.Await(t, id, 1)
		house.Open(t, addr).StartWorker()
		h.Do("DELETE", "/v1/timers/"+kind+"/"+id+"?wait=500ms", nil)
		answer <- http.StatusOK
		h.Await(kind+"/"+id, "delivered")
		if strings.Contains(everything(t, h, kind+"/"+id), workflows.ReceiptQueue("")) {
			recorder{t: t, h: h}.run("collided-elsewhere", kind+"/"+id, "")
			return
		}
	}
}

// TestRecordHistoriesOfRedeliveries does the same for jobs over many timers.
func TestRecordHistoriesOfRedeliveries(t *testing.T) {
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
	h, r, kind := open(t)
	target, _ := outage(r)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": target}})
	failMany(t, h, kind, 2)
	for _, scenario := range []struct {
		name string
		rate float64
	}{{"redelivery-stopped", 0.1}, {"redelivery", 1000}} {
		job := redeliver(t, h, kind, scenario.rate)
		job.await(t, h, func(now redelivery) bool { return now.Redelivered > 0 })
		h.Do("DELETE", "/v1/redeliveries/"+job.ID, nil) // too late for the fast one
		job.await(t, h, jobEnded)
		recorder{t: t, h: h}.run(scenario.name, workflows.RedeliveryID(job.ID), "")
	}
}

// Timers that a worker held and did not ring.
func TestRecordHistoriesOfHeldTimers(t *testing.T) {
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
	addr, stop, err := house.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	h, r, kind := house.Open(t, addr), receiver.New(t), typeOf(t)
	rec := recorder{t: t, h: h}
	h.StartWorker()
	for scenario, moved := range map[string]any{"held-cancelled": nil, "held-moved": house.JSON{"delay": "1h"}} {
		id := bookHeld(t, h, kind, r.URL)
		path, run := kind+"/"+id, h.Get(kind+"/"+id).RunID
		method := map[bool]string{true: "DELETE", false: "PATCH"}[moved == nil]
		require.Equal(t, http.StatusOK, h.Do(method, "/v1/timers/"+path, moved).Status)
		rec.run(scenario, path, run)
		rec.run("nudge", workflows.NotifyID(run), "")
		h.Do("DELETE", "/v1/timers/"+path, nil)
	}
	id := bookHeld(t, h, kind, r.URL)
	run := h.Get(kind + "/" + id).RunID
	h.StopWorker()
	rec.run("handed-back", kind+"/"+id, run)
}

type recorder struct {
	t *testing.T
	h *house.House
}

// finished waits for a timer's end and writes its last run, named by its id.
func (r recorder) finished(kind, id, status string) {
	r.t.Helper()
	r.h.Await(kind+"/"+id, status)
	r.run(id, kind+"/"+id, "")
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
	if os.Getenv("WAKECALL_RECORD") == "" {
		t.Skip("records only when WAKECALL_RECORD is set")
	}
	h, r, kind := open(t)
	rec := recorder{t: t, h: h}
	held := house.JSON{"callback": house.JSON{"url": r.URL}, "paused": true, "expires_after": "1s"}
	h.Policy(kind, held)
	h.Add(house.JSON{"business_type": kind, "business_id": "expired-held", "delay": "0s"})
	rec.finished(kind, "expired-held", "expired")

	held["expires_after"] = "4s"
	h.Policy(kind, held)
	h.Add(house.JSON{"business_type": kind, "business_id": "put-off", "delay": "0s"})
	h.Await(kind+"/put-off", "delivering")
	held["expires_after"] = "8s"
	h.Policy(kind, held)
	rec.finished(kind, "put-off", "expired")

	spec, err := timer.Admit(timer.Key{BusinessType: kind, BusinessID: "went-over"}, timer.Terms{Delay: pointer(timer.Duration(0))}, "booking", time.Now())
	require.NoError(t, err)
	spec.Behaviour = workflows.BehaviourInitial
	h.Start(spec)
	rec.finished(kind, "went-over", "expired")

	path := kind + ".other/woken"
	body := booking(kind+".other", "woken", "0s", r.On("/busy", receiver.FailFirst(1)))
	body["retry"] = house.JSON{"steps": []string{"1s"}}
	h.Add(body)
	h.Await(path, "delivering")
	wake := timer.Change{ID: "wake", Wake: true, At: timer.At(time.Now())}
	require.NoError(t, h.Client.SignalWorkflow(t.Context(), path, "", workflows.SignalChange, wake))
	rec.finished(kind+".other", "woken", "delivered")

	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.On("/patience", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})}})
	h.Add(house.JSON{"business_type": kind, "business_id": "pressed", "delay": "0s"})
	awaitPressure(t, h, kind)
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", "/v1/policies/"+kind+"/back_pressure", nil).Status)
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.run("policy-lifted", workflows.PolicyID(kind), "")
	h.Do("DELETE", "/v1/timers/"+kind+"/pressed", nil)
}
