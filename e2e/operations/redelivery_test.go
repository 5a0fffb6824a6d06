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
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
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
	under := awaitBulk(t, env, begun.ID, func(j wakecall.BulkJob) bool { return j.Done > 0 || j.Ended() })
	require.Equal(t, job.Running, under.Status, "progress is seen")
	require.Equal(t, timers, *under.Found)
	require.Less(t, under.Done, timers)
	require.WithinDuration(t, begun.StartedAt.Time(), under.StartedAt.Time(), 5*time.Second)

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
	ids, _ = jobsPage(env, query)
	return ids
}

func jobsPage(env *testenv.Env, query string) (ids []string, next string) {
	var page struct {
		Jobs []struct{ ID string }
		Next string `json:"next_page_token"`
	}
	env.Do("GET", "/v1/bulk"+query, nil).Into(&page)
	for _, job := range page.Jobs {
		ids = append(ids, job.ID)
	}
	return ids, page.Next
}

// One order covers every business type. It has a Temporal of its own: there are failed
// timers of others elsewhere.
func TestRedeliverAllTypes(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	env.StartWorker()
	target, mend := outage(r)
	for _, kind := range []string{kind + ".a", kind + ".b"} {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
		failMany(t, env, kind, 2)
	}
	mend()
	done := redelivered(t, env, "")
	require.Equal(t, bulkCounts(4, 4, 0), done.Tally)
	env.AwaitAll(kind+".a", 2, "delivered")
	env.AwaitAll(kind+".b", 2, "delivered")
	second := redelivered(t, env, kind+".a")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, []string{second.ID, done.ID}, jobsShown(env, ""), "the latest comes first")
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	first, next := jobsPage(env, "?page_size=1")
	require.Equal(t, []string{second.ID}, first)
	require.Equal(t, []string{done.ID}, jobsShown(env, "?page_size=1&page_token="+next))
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/bulk?status=done&page_token="+next, nil).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/bulk?status=lost", nil).Status)
}

func TestListWhatEnded(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	target, _ := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	began := time.Now().Add(-time.Second)
	env.Add(sample.Booking(kind, "open", "1h", r.URL))
	failMany(t, env, kind, 2)
	over := time.Now().Add(time.Second)
	at := func(moment time.Time) string { return moment.UTC().Format(time.RFC3339Nano) }
	for want, filter := range map[int]url.Values{
		3: {},
		2: {"ended_from": {at(began)}, "ended_to": {at(over)}},
		1: {"due_from": {at(over)}},
		0: {"ended_to": {at(began)}},
	} {
		filter.Set("business_type", kind)
		require.Len(t, testenv.Listed(env, filter), want, "%v", filter)
	}
	require.Empty(t, testenv.Listed(env, url.Values{"business_type": {kind}, "ended_from": {at(over)}}))
	none := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Redeliver, Filter: timer.Filter{BusinessType: kind, EndedTo: wire.At(began)}})
	require.Equal(t, bulkCounts(0, 0, 0), none.Tally)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/timers?ended_from=yesterday", nil).Status)
}

func TestStopRedelivery(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	target, mend := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	failMany(t, env, kind, 5)
	mend()
	begun := redeliver(t, env, kind, 0.1)
	awaitBulk(t, env, begun.ID, func(j wakecall.BulkJob) bool { return j.Done == 1 })
	_, err := env.Wakecall().Bulk.Stop(t.Context(), begun.ID)
	require.NoError(t, err)
	stopped := awaitBulk(t, env, begun.ID, wakecall.BulkJob.Ended)
	require.Equal(t, job.Stopped, stopped.Status)
	require.Equal(t, bulkCounts(5, 1, 0), stopped.Tally)
	again, err := env.Wakecall().Bulk.Stop(t.Context(), begun.ID)
	require.NoError(t, err)
	require.Equal(t, stopped, again)
	require.Len(t, r.AwaitAll(t, 6), 6)
}

// An order is durable without a worker, and can be shown and stopped. What one
// worker leaves, the next one takes up.
func TestRedeliveryAmongWorkers(t *testing.T) { // it needs the machine for itself
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r := testenv.OpenWith(t, addr, testenv.Settings()), receiver.New(t)
	target, mend := outage(r)
	const kind, timers = "handed-on", 15
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	env.StartWorker()
	failMany(t, env, kind, timers)
	env.StopWorker()
	mend()

	unheard := redeliver(t, env, kind, 1)
	reply := env.Do("DELETE", "/v1/bulk/"+unheard.ID, nil)
	require.Equal(t, http.StatusAccepted, reply.Status, "nobody has heard of it")
	require.Equal(t, "/v1/bulk/"+unheard.ID, reply.Header.Get("Location"))
	begun := redeliver(t, env, kind, 10)
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
