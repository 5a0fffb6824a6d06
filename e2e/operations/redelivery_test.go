package operations

import (
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// outage is a receiver that says stop until it is mended.
func outage(r *receiver.Receiver) (url string, mend func()) {
	var mended atomic.Bool
	return r.On("/down", func(w http.ResponseWriter, _ *http.Request, _ int) {
		if !mended.Load() {
			w.WriteHeader(http.StatusGone)
		}
	}), func() { mended.Store(true) }
}

// failMany books n timers that fail, and waits until a list shows them.
func failMany(t *testing.T, env *testenv.Env, kind string, n int) {
	t.Helper()
	env.AddMany(kind, n, 0)
	env.AwaitAll(kind, n, "failed")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, testenv.Listed(env, url.Values{"business_type": {kind}, "status": {"failed"}}), n)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}

// redeliver orders a redelivery, of all types where it names none.
func redeliver(t *testing.T, env *testenv.Env, kind string, perSecond float64) wakecall.BulkJob {
	t.Helper()
	order := wakecall.BulkOrder{Operation: job.Redeliver, Filter: timer.Filter{BusinessType: kind}, PerSecond: perSecond}
	begun, created, err := env.Wakecall().Bulk.Start(t.Context(), order)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, []any{job.Running, kind, perSecond}, []any{begun.Status, begun.Filter.BusinessType, begun.PerSecond})
	require.Nil(t, begun.Found)
	return begun
}

// redelivered orders a redelivery and returns it once it has ended.
func redelivered(t *testing.T, env *testenv.Env, kind string) wakecall.BulkJob {
	t.Helper()
	return awaitBulk(t, env, redeliver(t, env, kind, quick).ID, wakecall.BulkJob.Ended)
}

func TestRedeliverByQuery(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	target, mend := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	const timers, rate = 20, 10
	failMany(t, env, kind, timers)
	mend()
	begun := redeliver(t, env, kind, rate)
	done := awaitBulk(t, env, begun.ID, wakecall.BulkJob.Ended)
	require.Equal(t, job.Done, done.Status)
	require.Equal(t, bulkCounts(timers, timers, 0), done.Tally)
	env.AwaitAll(kind, timers, "delivered")
	var second []time.Time
	for n := range timers {
		calls := r.Calls(strconv.Itoa(n))
		require.Len(t, calls, 2)
		require.Equal(t, calls[0].Header.Get("webhook-id"), calls[1].Header.Get("webhook-id"))
		second = append(second, calls[1].At)
	}
	require.GreaterOrEqual(t, receiver.Span(second), time.Duration(float64(timers-1)/rate*0.9*float64(time.Second)), "the rate is kept")

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, jobsShown(env, "?status=done&page_size=100"), done.ID)
		assert.NotContains(c, jobsShown(env, "?status=running"), done.ID)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")

	again := redelivered(t, env, kind)
	require.Equal(t, bulkCounts(timers, 0, timers), again.Tally, "they are not failed any more")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		stats, err := env.Wakecall().Timers.Stats(t.Context(), kind)
		assert.NoError(c, err)
		assert.Equal(c, timer.StatusCounts{Delivered: timers}, stats.Timers)
	}, testenv.Patience, 100*time.Millisecond, "counts are those of a moment ago")
	for _, outcome := range bulkResults(t, env, again.ID) {
		require.Equal(t, job.ResultSkipped, outcome.Result)
		require.NotEmpty(t, outcome.Code)
	}
	require.Len(t, r.All(), 2*timers)

	described, err := env.Client.DescribeWorkflowExecution(t.Context(), workflows.BulkJob.WorkflowID(begun.ID), "")
	require.NoError(t, err)
	require.Empty(t, described.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["BusinessType"],
		"who cancels timers by query means no job")
}

// jobsShown are the ids of the bulk jobs on the first page.
func jobsShown(env *testenv.Env, query string) (ids []string) {
	var page struct{ Jobs []struct{ ID string } }
	env.Do("GET", "/v1/bulk"+query, nil).Into(&page)
	for _, job := range page.Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// An order is durable without a worker, and can be shown and stopped. What one
// worker leaves, the next one takes up.
func TestRedeliveryAmongWorkers(t *testing.T) { // it needs the machine for itself
	addr := testenv.Alone(t)
	env, r := testenv.OpenWith(t, addr, testenv.Settings()), receiver.New(t)
	target, mend := outage(r)
	const kind, timers = "handed-on", 20
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	env.StartWorker()
	failMany(t, env, kind, timers)
	env.StopWorker()
	mend()

	unheard := redeliver(t, env, kind, 1)
	reply := env.Do("DELETE", "/v1/bulk/"+unheard.ID, nil)
	require.Equal(t, http.StatusAccepted, reply.Status, "nobody has heard of it")
	require.Equal(t, "/v1/bulk/"+unheard.ID, reply.Header.Get("Location"))
	begun := redeliver(t, env, kind, 2) // it lasts until the worker is stopped: a job shows itself a second later
	env.StartWorker()
	require.Equal(t, job.Stopped, awaitBulk(t, env, unheard.ID, wakecall.BulkJob.Ended).Status)
	awaitBulk(t, env, begun.ID, func(j wakecall.BulkJob) bool { return j.Done > 3 })
	env.StopWorker()
	left := awaitBulk(t, env, begun.ID, func(wakecall.BulkJob) bool { return true })
	require.Equal(t, job.Running, left.Status)
	require.Less(t, left.Done, timers)
	env.StartWorker()
	done := awaitBulk(t, env, begun.ID, wakecall.BulkJob.Ended)
	require.Equal(t, job.Done, done.Status)
	// What a worker did without having said so counts as done: it shows the job's mark.
	require.Equal(t, bulkCounts(timers, timers, 0), done.Tally)
	env.AwaitAll(kind, timers, "delivered")
	require.Len(t, r.All(), 2*timers, "each was tried again once")
}
