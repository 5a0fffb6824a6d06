package operations

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
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
	}, time.Minute, 20*time.Millisecond, "a job takes its time")
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
	require.Empty(t, bulkResults(t, env, dry.ID))
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

	told := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Edit, Filter: filter, PerSecond: quick, Edit: &wakecall.Terms{
		OnFailed: &delivery.Alert{Destination: delivery.Destination{URL: r.URL + "/told"}},
	}})
	require.Equal(t, bulkCounts(3, 3, 0), told.Tally)
	silent := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Edit, Filter: filter, PerSecond: quick, Edit: &wakecall.Terms{OnFailed: &delivery.Alert{}}})
	require.Equal(t, bulkCounts(3, 3, 0), silent.Tally)
	view, err = env.Wakecall().Timers.Get(t.Context(), wire.Key{BusinessType: kind, BusinessID: "1"})
	require.NoError(t, err)
	require.Nil(t, view.OnFailed, "taken away, as a PATCH does")

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

// found are the timers that an order is about, by their ids.
func found(t *testing.T, env *testenv.Env, order job.Bulk) map[string]job.Item {
	t.Helper()
	items := map[string]job.Item{}
	page, next, err := env.Engine.Bulk.Find(t.Context(), order, nil)
	require.NoError(t, err)
	require.Empty(t, next)
	for _, item := range page {
		items[item.BusinessID] = item
	}
	return items
}

// The timers answer for themselves: what happened to one after it was found is seen when it
// is its turn.
func TestBulkSeesWhatHappenedMeanwhile(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	busy := r.On("/busy", receiver.Status(500))
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"1h"}}})
	env.AddMany(kind, 6, time.Hour)
	env.Add(sample.Booking(kind, "delivering", "3s", busy))
	env.Add(sample.Booking(kind, "delivered", "3s", r.URL))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "rule", "recurrence": testenv.JSON{"every": "24h"}})
	order := job.Bulk{ID: kind, Operation: job.Move, Filter: timer.Filter{BusinessType: kind, Status: timer.Scheduled}, Shift: wire.Duration(time.Hour)}
	var items map[string]job.Item
	require.Eventually(t, func() bool {
		items = found(t, env, order)
		return len(items) == 9
	}, testenv.Patience, 20*time.Millisecond, "visibility lags behind")

	path := "/v1/timers/" + kind + "/"
	require.Equal(t, http.StatusOK, env.Do("PATCH", path+"0", testenv.JSON{"delay": "2h"}).Status)
	require.Equal(t, http.StatusOK, env.Do("DELETE", path+"1", nil).Status)
	require.Equal(t, http.StatusOK, env.Do("POST", path+"2/fire", nil).Status)
	env.Await(kind+"/2", "delivered")
	require.Equal(t, http.StatusOK, env.Do("DELETE", path+"3", nil).Status)
	env.Add(sample.Booking(kind, "3", "1h", r.URL))
	env.Await(kind+"/delivered", "delivered")
	env.Await(kind+"/delivering", "delivering")
	gone := items["5"]
	gone.BusinessID = "gone"
	items["gone"] = gone

	for id, want := range map[string]struct {
		code   wire.Code
		status timer.Status
	}{
		"0":          {wire.PreconditionFailed, timer.Scheduled},
		"1":          {wire.AlreadyFinished, timer.Cancelled},
		"2":          {wire.PreconditionFailed, timer.Delivered},
		"3":          {wire.PreconditionFailed, timer.Scheduled},
		"delivered":  {wire.AlreadyFinished, timer.Delivered},
		"delivering": {wire.Overtaken, timer.Delivering},
		"gone":       {wire.NotFound, ""},
		"rule":       {wire.InvalidRequest, ""},
	} {
		_, err := env.Engine.Bulk.Do(t.Context(), order, items[id])
		refusal, ok := errors.AsType[*wire.Error](err)
		require.True(t, ok, "%s: %v", id, err)
		require.Equal(t, want.code, refusal.Code, id)
		if want.status != "" {
			require.Equal(t, want.status, timer.StateOf(refusal).Status, id)
		}
	}
	pending, err := env.Engine.Bulk.Do(t.Context(), order, items["5"])
	require.NoError(t, err)
	require.False(t, pending)
	require.Equal(t, 2, env.Get(kind+"/5").Revision)
}

// What a job does twice, since its worker was killed before it was told, takes effect once,
// and counts as done.
func TestBulkDoesTwiceWithOneEffect(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	target, mend := outage(r)
	for name, order := range map[job.Operation]job.Bulk{
		job.Cancel:    {},
		job.Move:      {Shift: wire.Duration(-time.Minute)},
		job.Edit:      {Edit: &timer.Terms{Priority: new(int)}},
		job.Fire:      {},
		job.Redeliver: {},
	} {
		kind := kind + "." + string(name)
		order.ID, order.Operation, order.Filter = kind, name, timer.Filter{BusinessType: kind}
		if order.Edit != nil {
			*order.Edit.Priority = 2
		}
		delay, url := "1h", r.URL
		if name == job.Redeliver {
			delay, url = "0s", target
		}
		env.Add(sample.Booking(kind, "1", delay, url))
		if name == job.Redeliver {
			env.Await(kind+"/1", "failed")
			mend()
		}
		var items map[string]job.Item
		require.Eventually(t, func() bool {
			items = found(t, env, order)
			return len(items) == 1
		}, testenv.Patience, 20*time.Millisecond, "visibility lags behind")
		_, err := env.Engine.Bulk.Do(t.Context(), order, items["1"])
		require.NoError(t, err, name)
		var after testenv.Timer
		switch name {
		case job.Fire, job.Redeliver:
			after = env.Await(kind+"/1", "delivered")
		default:
			after = env.Get(kind + "/1")
		}
		_, err = env.Engine.Bulk.Do(t.Context(), order, items["1"])
		require.NoError(t, err, name)
		again := env.Get(kind + "/1")
		require.Equal(t, []any{after.Status, after.Revision, after.DueAt, after.RunID}, []any{again.Status, again.Revision, again.DueAt, again.RunID}, name)

		other := order
		other.ID += ".other"
		_, err = env.Engine.Bulk.Do(t.Context(), other, items["1"])
		require.Equal(t, name != job.Cancel, err != nil, "%s: the control: another job is told that the timer has changed", name)
	}
	require.Len(t, r.All(), 3, "rung once by the fire, and twice where it was redelivered")
}

// One order under one id is one job.
func TestBulkIsOrderedOnce(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.AddMany(kind, 1, time.Hour)
	awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 1)
	order := wakecall.BulkOrder{ID: "once-" + kind, Operation: job.Move, Filter: timer.Filter{BusinessType: kind}, Shift: wire.Duration(time.Hour)}
	first := bulkEnded(t, env, order)
	again, created, err := env.Wakecall().Bulk.Start(t.Context(), order)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first, again, "also when it has ended")
	require.Equal(t, 2, env.Get(kind+"/0").Revision)
	order.Shift++
	_, _, err = env.Wakecall().Bulk.Start(t.Context(), order)
	var problem *wakecall.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, http.StatusConflict, problem.Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		seen := false
		for job, err := range env.Wakecall().Bulk.List(t.Context(), job.Done) {
			assert.NoError(c, err)
			seen = seen || job.ID == first.ID
		}
		assert.True(c, seen)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/bulk/nowhere", nil).Status)
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/bulk/a%2Fb/results", nil).Status)
}

// A stop is exact: what was done is told, and nothing more is done.
func TestBulkStopped(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.AddMany(kind, 20, time.Hour)
	awaitShown(t, env, wakecall.Filter{BusinessType: kind}, 20)
	j, _, err := env.Wakecall().Bulk.Start(t.Context(), wakecall.BulkOrder{Operation: job.Cancel, Filter: timer.Filter{BusinessType: kind}, PerSecond: 1})
	require.NoError(t, err)
	awaitBulk(t, env, j.ID, func(job wakecall.BulkJob) bool { return job.Done > 1 })
	_, err = env.Wakecall().Bulk.Stop(t.Context(), j.ID)
	require.NoError(t, err)
	stopped := awaitBulk(t, env, j.ID, wakecall.BulkJob.Ended)
	require.Equal(t, job.Stopped, stopped.Status)
	require.Less(t, stopped.Done, 20)
	results := bulkResults(t, env, j.ID)
	require.Len(t, results, stopped.Done)
	for id := range 20 {
		want := "scheduled"
		if _, done := results[strconv.Itoa(id)]; done {
			want = "cancelled"
		}
		require.Equal(t, want, env.Get(kind+"/"+strconv.Itoa(id)).Status)
	}
}
