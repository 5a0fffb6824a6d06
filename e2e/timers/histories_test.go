package timers

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfAnswers records answers to rings on their way to another gateway: one
// that arrives, and one whose gateway is gone.
func TestRecordHistoriesOfAnswers(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, _, kind := testenv.Start(t)
	gateway := sdkworker.New(env.Client, workflows.AnswersQueue("gateway"), sdkworker.Options{DisableWorkflowWorker: true})
	gateway.RegisterActivityWithOptions(func(context.Context, delivery.RingAnswer) error { return nil },
		activity.RegisterOptions{Name: workflows.ActivityAnswerRing})
	require.NoError(t, gateway.Start())
	t.Cleanup(gateway.Stop)
	for name, to := range map[string]string{"answer": "gateway", "answer-lost": "gone"} {
		answer := delivery.RingAnswer{Gateway: to, BusinessType: kind, Connection: name, Number: 1, Delivered: true}
		id := workflows.AnswerRingID(name)
		run, err := env.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, workflows.TypeAnswerRing, answer)
		require.NoError(t, err)
		require.Equal(t, to == "gone", run.Get(t.Context(), nil) != nil)
		testenv.Recorder{T: t, H: env}.Run(name, id, "")
	}
}

// TestRecordHistoriesOfChanges records the changes of a timer, before and in its first attempt.
func TestRecordHistoriesOfChanges(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	path := "/v1/timers/" + kind + "/"
	callback := testenv.JSON{"url": r.URL}

	push := testenv.JSON{"delay": "1s", "max_wait": "1m", "callback": callback}
	first := env.Do("PUT", path+"pushed", push).Timer()
	push["payload"] = 2
	env.Do("PUT", path+"pushed", push)
	rec.Run("pushed-away", kind+"/pushed", first.RunID)
	rec.Finished(kind, "pushed", "delivered")

	env.Add(sample.Booking(kind, "fired", "1h", r.URL))
	env.Do("POST", path+"fired/fire?wait=10s", nil)
	rec.Finished(kind, "fired", "delivered")

	body := sample.Booking(kind, "edited-delivering", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"3s"}}
	first = env.Add(body)
	env.Await(kind+"/edited-delivering", "delivering")
	env.Do("PATCH", path+"edited-delivering", testenv.JSON{"priority": 1})
	rec.Run("edited-delivering-away", kind+"/edited-delivering", first.RunID)
	rec.Finished(kind, "edited-delivering", "delivered")

	answer := make(chan int)
	gone := r.On("/gone", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(<-answer) })
	for id, change := range map[string]func(path string){
		"failed-cancelled": func(path string) { env.Do("DELETE", path+"?wait=10ms", nil) },
		"failed-moved":     func(path string) { env.Do("PATCH", path+"?wait=10ms", testenv.JSON{"delay": "1h"}) },
		"failed-edited":    func(path string) { env.Do("PATCH", path+"?wait=10ms", testenv.JSON{"priority": 1}) },
	} {
		first = env.Add(sample.Booking(kind, id, "0s", gone))
		r.Await(t, id, 1)
		change(path + id)
		answer <- http.StatusGone
		if id != "failed-cancelled" {
			rec.Next(kind+"/"+id, first.RunID)
		} else {
			env.Await(kind+"/"+id, "cancelled")
		}
		rec.Run(id, kind+"/"+id, first.RunID)
	}
	rec.Finished(kind, "failed-edited", "failed")
	env.Do("DELETE", path+"failed-moved", nil)
}

// TestRecordHistoriesOfDueTimes records a herd's timer, and one that is due by a wall clock.
func TestRecordHistoriesOfDueTimes(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	env.Policy(kind+".herd", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "5s"})
	env.Add(testenv.JSON{"business_type": kind + ".herd", "business_id": "preloaded", "delay": "6s"})
	rec.Finished(kind+".herd", "preloaded", "delivered")

	zone := "Asia/Shanghai"
	location, err := time.LoadLocation(zone)
	require.NoError(t, err)
	body := testenv.JSON{
		"business_type": kind + ".local", "business_id": "local", "timezone": zone, "callback": testenv.JSON{"url": r.URL},
		"due_local": time.Now().Add(2 * time.Second).In(location).Format("2006-01-02T15:04:05"),
	}
	env.Add(body)
	rec.Finished(kind+".local", "local", "delivered")
}

// TestRecordHistoriesOfLabels records timers with labels: one whose labels are changed,
// until it is delivered, and a recurring one that hands them on.
func TestRecordHistoriesOfLabels(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	body := sample.Booking(kind, "labelled", "1h", r.URL)
	body["labels"] = timer.Labels{"customer": "42", "env": "test"}
	first := env.Add(body)
	relabelled := env.Do("PATCH", "/v1/timers/"+kind+"/labelled", testenv.JSON{"labels": timer.Labels{"env": "live"}})
	require.Equal(t, http.StatusOK, relabelled.Status, "%s", relabelled.Body)
	rec.Run("labelled-anew", kind+"/labelled", first.RunID)
	env.Do("POST", "/v1/timers/"+kind+"/labelled/fire", nil)
	rec.Finished(kind, "labelled", "delivered")

	recurring := sample.Repeating(kind, "labelled-recurring", testenv.JSON{"every": "1s", "max_occurrences": 2})
	recurring["labels"], recurring["callback"] = timer.Labels{"customer": "42"}, testenv.JSON{"url": r.URL}
	first = env.Add(recurring)
	rec.Finished(kind, "labelled-recurring", "delivered")
	rec.Run("labelled-recurring-goes-on", kind+"/labelled-recurring", first.RunID)
}

// TestRecordHistoriesOfPauses records one-shot timers that are paused: one that is resumed,
// one whose latest time passes, and one whose retry the pause calls off.
func TestRecordHistoriesOfPauses(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	call := func(id, verb string) {
		reply := env.Do("POST", "/v1/timers/"+kind+"/"+id+"/"+verb+"?wait=30s", nil)
		require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
	}
	body := sample.Booking(kind, "paused-once", "200ms", r.URL)
	body["paused"] = true
	first := env.Add(body)
	call("paused-once", "resume")
	rec.Run("paused-once-resumed", kind+"/paused-once", first.RunID)
	rec.Finished(kind, "paused-once", "delivered")

	body = sample.Booking(kind, "paused-expired", "200ms", r.URL)
	body["paused"], body["expires_after"] = true, "300ms"
	env.Add(body)
	rec.Finished(kind, "paused-expired", "expired")

	body = sample.Booking(kind, "paused-retry", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	first = env.Add(body)
	r.Await(t, "paused-retry", 1)
	env.Await(kind+"/paused-retry", "delivering")
	call("paused-retry", "pause")
	rec.Run("paused-retry-away", kind+"/paused-retry", first.RunID)
	call("paused-retry", "resume")
	rec.Finished(kind, "paused-retry", "delivered")
}
