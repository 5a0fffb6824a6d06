package operations

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// bulkEnded orders a bulk job and returns it once it has ended.
func bulkEnded(t *testing.T, env *testenv.Env, order wakecall.BulkOrder) wakecall.BulkJob {
	t.Helper()
	job, created, err := env.Wakecall().Bulk.Start(t.Context(), order)
	require.NoError(t, err)
	require.True(t, created)
	return awaitBulk(t, env, job.ID, wakecall.BulkJob.Ended)
}

// awaitBulk returns a bulk job once it is as it should be.
func awaitBulk(t *testing.T, env *testenv.Env, id string, ok func(wakecall.BulkJob) bool) (job wakecall.BulkJob) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		job, err = env.Wakecall().Bulk.Get(t.Context(), id)
		return err == nil && ok(job)
	}, testenv.Patience, testenv.Interval, "a job takes its time")
	return job
}

// bulkResults are the results of a job by the id of the timer.
func bulkResults(t *testing.T, env *testenv.Env, id string) map[string]job.Outcome {
	t.Helper()
	results := map[string]job.Outcome{}
	for line, err := range env.Wakecall().Bulk.Results(t.Context(), id) {
		require.NoError(t, err)
		require.NotContains(t, results, line.BusinessID, "each timer once")
		results[line.BusinessID] = line.Outcome
	}
	return results
}

func bulkCounts(found, done, skipped int) job.Tally {
	return job.Tally{Found: &found, Done: done, Skipped: skipped}
}

// awaitShown waits until a list shows n timers that a filter finds.
func awaitShown(t *testing.T, env *testenv.Env, filter wakecall.Filter, n int) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		found := 0
		for _, err := range env.Wakecall().Timers.List(t.Context(), filter) {
			assert.NoError(c, err)
			found++
		}
		assert.Equal(c, n, found)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}

// quick is far above what such a test changes in a second.
const quick = 1000

// Each operation is done to what the filter finds, and to nothing else.
func TestBulkOperations(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for _, kind := range []string{kind, kind + ".other"} {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
		env.AddMany(kind, 3, time.Hour)
		awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 3)
	}
	before := env.Get(kind + "/1")
	filter := timer.Filter{BusinessType: kind, Status: timer.Scheduled}

	dry := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Cancel, Filter: filter, DryRun: true})
	require.Equal(t, bulkCounts(3, 0, 0), dry.Tally)
	found := job.Outcome{Result: job.ResultFound}
	require.Equal(t, map[string]job.Outcome{"0": found, "1": found, "2": found}, bulkResults(t, env, dry.ID))
	require.Equal(t, before.Revision, env.Get(kind+"/1").Revision, "nothing was done")

	moved := bulkEnded(t, env, wakecall.BulkOrder{
		ID: "move-" + kind, Operation: job.Move, Filter: filter, Shift: wire.Duration(-30 * time.Minute), PerSecond: quick,
	})
	require.Equal(t, job.Done, moved.Status)
	require.Equal(t, bulkCounts(3, 3, 0), moved.Tally)
	after := env.Get(kind + "/1")
	require.Equal(t, before.DueAt.Add(-30*time.Minute), after.DueAt)
	require.Equal(t, before.Revision+1, after.Revision, "once")
	done := job.Outcome{Result: job.ResultDone}
	require.Equal(t, map[string]job.Outcome{"0": done, "1": done, "2": done}, bulkResults(t, env, moved.ID))

	awaitShown(t, env, wakecall.Filter{BusinessType: kind, DueTo: after.DueAt.Add(time.Minute)}, 3)
	edited := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Edit, Filter: filter, PerSecond: quick, Edit: &wakecall.Terms{
		Payload: wakecall.JSON("sale"), Priority: 2, Callback: &delivery.Callback{Headers: map[string]string{"X-Tenant": "blue"}},
	}})
	require.Equal(t, bulkCounts(3, 3, 0), edited.Tally)
	view, err := env.Wakecall().Timers.Get(t.Context(), wire.Key{BusinessType: kind, BusinessID: "1"})
	require.NoError(t, err)
	require.Equal(t, 2, view.Priority)

	one := filter
	one.BusinessID = "0"
	past := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Move, Filter: one, PerSecond: quick, Shift: wire.Duration(-48 * time.Hour)})
	require.Equal(t, bulkCounts(1, 1, 0), past.Tally)
	env.Await(kind+"/0", "delivered") // at once, since it lies in the past

	one.BusinessID = "1"
	fired := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Fire, Filter: one, PerSecond: quick})
	require.Equal(t, bulkCounts(1, 1, 0), fired.Tally)
	call := r.Await(t, "1", 1)[0]
	require.Equal(t, `"sale"`, string(call.Body))
	require.Equal(t, "blue", call.Header.Get("X-Tenant"))

	env.Await(kind+"/1", "delivered")
	awaitShown(t, env, wakecall.Filter{BusinessType: kind, Status: timer.Scheduled}, 1)
	cancelled := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Cancel, Filter: filter, PerSecond: quick})
	require.Equal(t, bulkCounts(1, 1, 0), cancelled.Tally)
	env.Await(kind+"/2", "cancelled")
	for id := range 3 {
		require.Equal(t, 1, env.Get(fmt.Sprint(kind, ".other/", id)).Revision, "nothing else was touched")
	}
}

// A job that names a dry run changes the timers that this one found: none that was booked since, and none
// that was changed since.
func TestABulkJobAfterACount(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.AddMany(kind, 3, time.Hour)
	awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 3)
	order := wakecall.BulkOrder{Operation: job.Cancel, Filter: timer.Filter{BusinessType: kind}, DryRun: true}
	dry := bulkEnded(t, env, order)
	require.Equal(t, bulkCounts(3, 0, 0), dry.Tally)

	env.Add(testenv.JSON{"business_type": kind, "business_id": "later", "delay": "1h"})
	_, _, err := env.Wakecall().Timers.Patch(t.Context(), wire.Key{BusinessType: kind, BusinessID: "0"}, wakecall.Terms{Priority: 2}, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return env.Get(kind+"/0").Revision == 2 }, testenv.Patience, testenv.Interval, "the change is applied")
	awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 4)
	order.DryRun, order.Counted, order.PerSecond = false, dry.ID, quick
	carried := bulkEnded(t, env, order)
	require.Equal(t, bulkCounts(3, 2, 1), carried.Tally)
	require.Equal(t, dry.ID, carried.Counted)
	done := job.Outcome{Result: job.ResultDone}
	changed := job.Outcome{Result: job.ResultSkipped, Code: wire.PreconditionFailed, Status: timer.Scheduled}
	require.Equal(t, map[string]job.Outcome{"0": changed, "1": done, "2": done}, bulkResults(t, env, carried.ID))
	require.Equal(t, 1, env.Get(kind+"/later").Revision, "it was not seen")
}
