package operations

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfBulk records bulk jobs: one that is done, and one that is stopped.
func TestRecordHistoriesOfBulk(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	for n := range 3 {
		env.Add(sample.Booking(kind, strconv.Itoa(n), "1h", r.URL))
	}

	awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 3)
	bulkEnded(t, env, wakecall.BulkOrder{ID: kind, Operation: job.Move, Filter: timer.Filter{BusinessType: kind}, Shift: wire.Duration(time.Minute)})
	testenv.Recorder{T: t, H: env}.Run("bulk", workflows.BulkJob.WorkflowID(kind), "")
	slow := wakecall.BulkOrder{ID: kind + ".stopped", Operation: job.Cancel, Filter: timer.Filter{BusinessType: kind}, PerSecond: 1}
	_, _, err := env.Wakecall().Bulk.Start(t.Context(), slow)
	require.NoError(t, err)
	awaitBulk(t, env, slow.ID, func(job wakecall.BulkJob) bool { return job.Done > 0 })
	_, err = env.Wakecall().Bulk.Stop(t.Context(), slow.ID)
	require.NoError(t, err)
	awaitBulk(t, env, slow.ID, wakecall.BulkJob.Ended)
	for _, name := range []string{"bulk-stopped", "bulk-stopped-counted"} {
		testenv.Recorder{T: t, H: env}.Run(name, workflows.BulkJob.WorkflowID(slow.ID), "")
	}
}

// TestRecordHistoriesOfRedeliveries records a bulk job of redeliveries, and an alert that is
// sent twice.
func TestRecordHistoriesOfRedeliveries(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
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
	rec.Run("alert-retried", alert, "")
	awaitShown(t, env, wakecall.Filter{BusinessType: kind, Status: timer.Failed}, 1)
	bulkEnded(t, env, wakecall.BulkOrder{ID: kind, Operation: job.Redeliver, Filter: timer.Filter{BusinessType: kind}, PerSecond: 10})
	rec.Run("bulk-redeliver", workflows.BulkJob.WorkflowID(kind), "")
}
