package timers

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

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
