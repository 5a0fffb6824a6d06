package operations

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// counting is the order of a kind of job that nobody offers: it counts, page by page.
// What stands here is all that a kind has to say.
type counting struct {
	UpTo      int     `json:"up_to"`
	PerSecond float64 `json:"per_second"`
}

func (c counting) Check(time.Time) (errs wire.FieldErrors) {
	if c.UpTo < 0 {
		errs.Add("/up_to", wire.CodeOutOfRange, "must not be negative")
	}
	return errs
}

var countingJob = jobs.Kind[counting]{
	JobKind: workflows.JobKind{Workflow: "TestCounting", Activity: "count", Memo: "counting", Prefix: "counting:"},
	Noun:    "count", Summary: func(c counting) string { return "count up to " + strconv.Itoa(c.UpTo) },
}

type countingProgress struct {
	corejob.Tally
	corejob.Position
}

func count(ctx context.Context, order counting) (corejob.Tally, error) {
	const size = 4
	var progress countingProgress
	err := job.Work[int]{
		PerSecond: order.PerSecond,
		Count:     func(context.Context) (int, error) { return order.UpTo, nil },
		Page: func(_ context.Context, token []byte) (page []int, next []byte, err error) {
			first, _ := strconv.Atoi(string(token))
			for n := first; n < min(first+size, order.UpTo); n++ {
				page = append(page, n)
			}
			if first+size < order.UpTo {
				next = []byte(strconv.Itoa(first + size))
			}
			return page, next, nil
		},
		ID: strconv.Itoa,
		Do: func(_ context.Context, n int) error {
			if n%5 == 4 {
				return &wire.Error{Code: wire.Overtaken}
			}
			return nil
		},
	}.Run(ctx, &progress)
	return job.End(ctx, progress.Tally, err)
}

// The seam of jobs carries a second kind, from its order to its end, on a real Temporal.
func TestASecondKindOfJob(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env := testenv.Open(t, addr)
	orders := sdkworker.New(env.Client, workflows.TaskQueue, sdkworker.Options{LocalActivityWorkerOnly: true})
	orders.RegisterWorkflowWithOptions(workflows.Job[counting, corejob.Tally](countingJob.JobKind), workflow.RegisterOptions{Name: countingJob.Workflow})
	work := sdkworker.New(env.Client, workflows.JobQueue, sdkworker.Options{MaxHeartbeatThrottleInterval: 100 * time.Millisecond, DisableWorkflowWorker: true})
	work.RegisterActivityWithOptions(count, activity.RegisterOptions{Name: countingJob.Activity})
	for _, part := range []sdkworker.Worker{orders, work} {
		require.NoError(t, part.Start())
		t.Cleanup(part.Stop)
	}
	ctx, counters := t.Context(), jobs.New[counting, corejob.Tally](kernel.New(env.Client, client.DefaultNamespace, ""), countingJob)
	await := func(id string, ok func(jobs.Job[counting, corejob.Tally]) bool) (now jobs.Job[counting, corejob.Tally]) {
		require.Eventually(t, func() bool {
			now, err = counters.Get(ctx, id)
			return err == nil && ok(now)
		}, testenv.Patience, 20*time.Millisecond, "a job takes its time")
		return now
	}
	ended := func(j jobs.Job[counting, corejob.Tally]) bool { return j.Status != corejob.Running }
	counts := func(found, done, skipped int) corejob.Tally {
		return corejob.Tally{Found: &found, Done: done, Skipped: skipped}
	}

	_, err = counters.Start(ctx, counting{UpTo: -1})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	quick, err := counters.Start(ctx, counting{UpTo: 14, PerSecond: 1000})
	require.NoError(t, err)
	require.Equal(t, corejob.Running, quick.Status)
	done := await(quick.ID, ended)
	require.Equal(t, corejob.Done, done.Status)
	require.Equal(t, counts(14, 12, 2), done.Counts)
	require.Equal(t, counting{UpTo: 14, PerSecond: 1000}, done.Order)
	require.NotZero(t, done.FinishedAt)

	slow, err := counters.Start(ctx, counting{UpTo: 14, PerSecond: 0.1})
	require.NoError(t, err)
	under := await(slow.ID, func(j jobs.Job[counting, corejob.Tally]) bool { return j.Counts.Done == 1 })
	require.Equal(t, corejob.Running, under.Status)
	require.Equal(t, counts(14, 1, 0), under.Counts, "progress is seen")
	_, err = counters.Stop(ctx, slow.ID, 10*time.Second)
	require.NoError(t, err)
	stopped := await(slow.ID, ended)
	require.Equal(t, corejob.Stopped, stopped.Status)
	require.Equal(t, counts(14, 1, 0), stopped.Counts)
	again, err := counters.Stop(ctx, slow.ID, time.Second)
	require.NoError(t, err)
	require.Equal(t, stopped, again, "one that has ended stays as it is")

	_, err = env.Engine.Bulk.Get(ctx, quick.ID)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "each kind has ids of its own")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for status, want := range map[corejob.Status][]jobs.Job[counting, corejob.Tally]{
			"": {stopped, done}, corejob.Done: {done}, corejob.Stopped: {stopped}, corejob.Running: nil,
		} {
			page, _, err := counters.List(ctx, jobs.Request{Status: status, Size: 10})
			assert.NoError(c, err)
			assert.Equal(c, want, page, "%s", status)
		}
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}
