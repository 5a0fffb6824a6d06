package e2e

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfFullRuns records entities that go on in another run: Temporal asks for
// it after few events here.
func TestRecordHistoriesOfFullRuns(t *testing.T) {
	onlyToRecord(t)
	addr, stop, err := testenv.TemporalWith(t.TempDir(), []byte("limit.historyCount.suggestContinueAsNew:\n  - value: 20\n"), time.Hour)
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), typeOf(t)
	env.StartWorker()
	rec := recorder{t: t, h: env}
	for n := range 6 {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "priority": 1 + n%5})
		env.Policy(kind+"."+strconv.Itoa(n), testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	}
	for name, id := range map[string]string{"policy": workflows.PolicyID(kind), "registry": workflows.RegistryID} {
		first := rec.first(id)
		rec.next(id, first)
		rec.run(name+"-goes-on", id, first)
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	rec.run("policy-went-on", workflows.PolicyID(kind), "")
}

// TestRecordHistoriesOfDispatchesThatEndPaused records a rule that is over when it is resumed.
func TestRecordHistoriesOfDispatchesThatEndPaused(t *testing.T) {
	onlyToRecord(t)
	m := openDispatchTest(t)
	until := time.Now().Add(4 * time.Second)
	order := testenv.JSON{
		"business_type": m.kind, "business_id": "over", "per_second": 100, "items": numbered(5),
		"recurrence": testenv.JSON{"every": "3s", "end_at": until.UTC().Format(time.RFC3339Nano)},
	}
	reply := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	require.Equal(t, http.StatusOK, m.env.Do("POST", m.path("over")+"/pause?wait=10s", nil).Status)
	require.Eventually(t, func() bool { return time.Now().After(until.Add(time.Second)) }, testenv.Patience, 50*time.Millisecond, "the rule is over")
	m.env.Do("POST", m.path("over")+"/resume?wait=10s", nil)
	m.ended("over")
	recorder{t: t, h: m.env}.run("dispatch-over-while-paused", workflows.DispatchWorkflowID(m.key("over")), "")
}

// TestRecordHistoriesOfChanges records what changes a timer, before and in its first attempt.
func TestRecordHistoriesOfChanges(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	path := "/v1/timers/" + kind + "/"
	callback := testenv.JSON{"url": r.URL}

	push := testenv.JSON{"delay": "1s", "max_wait": "1m", "callback": callback}
	first := env.Do("PUT", path+"pushed", push).Timer()
	push["payload"] = 2
	env.Do("PUT", path+"pushed", push)
	rec.run("pushed-away", kind+"/pushed", first.RunID)
	rec.finished(kind, "pushed", "delivered")

	env.Add(booking(kind, "fired", "1h", r.URL))
	env.Do("POST", path+"fired/fire?wait=10s", nil)
	rec.finished(kind, "fired", "delivered")

	body := booking(kind, "edited-delivering", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"3s"}}
	first = env.Add(body)
	env.Await(kind+"/edited-delivering", "delivering")
	env.Do("PATCH", path+"edited-delivering", testenv.JSON{"priority": 1})
	rec.run("edited-delivering-away", kind+"/edited-delivering", first.RunID)
	rec.finished(kind, "edited-delivering", "delivered")

	answer := make(chan int)
	gone := r.On("/gone", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	for id, change := range map[string]func(path string){
		"failed-cancelled": func(path string) { env.Do("DELETE", path+"?wait=10ms", nil) },
		"failed-moved":     func(path string) { env.Do("PATCH", path+"?wait=10ms", testenv.JSON{"delay": "1h"}) },
		"failed-edited":    func(path string) { env.Do("PATCH", path+"?wait=10ms", testenv.JSON{"priority": 1}) },
	} {
		first = env.Add(booking(kind, id, "0s", gone))
		r.Await(t, id, 1)
		change(path + id)
		answer <- http.StatusGone
		if id != "failed-cancelled" {
			rec.next(kind+"/"+id, first.RunID)
		} else {
			env.Await(kind+"/"+id, "cancelled")
		}
		rec.run(id, kind+"/"+id, first.RunID)
	}
	rec.finished(kind, "failed-edited", "failed")
	env.Do("DELETE", path+"failed-moved", nil)
}

// TestRecordHistoriesOfOtherLives records a herd's timer, an alert that is told twice, and a
// bulk job of redeliveries.
func TestRecordHistoriesOfOtherLives(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	env.Policy(kind+".herd", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "5s"})
	env.Add(testenv.JSON{"business_type": kind + ".herd", "business_id": "preloaded", "delay": "6s"})
	rec.finished(kind+".herd", "preloaded", "delivered")

	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.On("/first", func(w http.ResponseWriter, _ *http.Request, n int) {
			w.WriteHeader(map[bool]int{true: http.StatusGone, false: http.StatusOK}[n == 1])
		})},
		"on_failed": testenv.JSON{"url": r.On("/told", receiver.FailFirst(1))},
	})
	first := env.Add(testenv.JSON{"business_type": kind, "business_id": "redelivered-in-bulk", "delay": "0s"})
	env.Await(kind+"/redelivered-in-bulk", "failed")
	alert := workflows.AlertID(timer.EventFailed, "outcome:"+first.RunID)
	require.NoError(t, env.Client.GetWorkflow(t.Context(), alert, "").Get(t.Context(), nil))
	rec.run("alert-retried", alert, "")
	awaitShown(t, env, client.Filter{BusinessType: kind, Status: timer.Failed}, 1)
	bulkEnded(t, env, client.BulkOrder{ID: kind, Operation: job.Redeliver, Filter: timer.Filter{BusinessType: kind}, PerSecond: 10})
	rec.run("bulk-redeliver", workflows.BulkJob.WorkflowID(kind), "")

	zone := "Asia/Shanghai"
	location, err := time.LoadLocation(zone)
	require.NoError(t, err)
	body := testenv.JSON{
		"business_type": kind + ".local", "business_id": "local", "timezone": zone, "callback": testenv.JSON{"url": r.URL},
		"due_local": time.Now().Add(2 * time.Second).In(location).Format("2006-01-02T15:04:05"),
	}
	env.Add(body)
	rec.finished(kind+".local", "local", "delivered")
}
