package dispatches

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// A terminated dispatch cannot record its end. Temporal keeps the last heartbeats of its shards,
// and they have the counts and the failed items.
func TestATerminatedDispatch(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-ended", testenv.JSON{"callback": testenv.JSON{"url": r.On("/ended", receiver.Status(410))}})
	order := mass("d-ended", "a", 20)
	_, _, err := env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
	require.NoError(t, err)
	before := awaitDispatch(t, env, order.Key, func(view dispatch.View) bool { return view.Failed > 5 })
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.DispatchWorkflowID(order.Key), "", "by hand"))
	view := awaitDispatch(t, env, order.Key, in(dispatch.Cancelled))
	require.GreaterOrEqual(t, view.Failed, before.Failed)
	require.Zero(t, view.InFlight)
	listed := 0
	require.NoError(t, env.Engine.Dispatches.Failures(t.Context(), order.Key, func(dispatch.Failure) error {
		listed++
		return nil
	}))
	require.NotZero(t, listed, "as far as stored")
	_, retried, err := env.Engine.Dispatches.RetryFailures(t.Context(), order.Key)
	require.NoError(t, err)
	require.Equal(t, listed, retried)
}

// The same holds for a bulk job.
func TestATerminatedJob(t *testing.T) {
	t.Parallel()
	env := testenv.Open(t, testenv.Alone(t))
	w := sdkworker.New(env.Client, workflows.TaskQueue, sdkworker.Options{LocalActivityWorkerOnly: true})
	workflows.Register(w)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	worked := job.BulkProgress{Tally: job.Tally{Done: 3, Skipped: 1}}
	failing{worked}.poll(t, env.Client, workflows.JobQueue, workflows.ActivityBulk)
	begun, err := env.Engine.Bulk.Start(t.Context(), job.Bulk{ID: "ended", Operation: job.Cancel, PerSecond: 1})
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		running, err := env.Engine.Bulk.Get(t.Context(), begun.ID)
		require.NoError(c, err)
		require.Equal(c, worked.Tally, running.Counts.Tally)
	}, testenv.Patience, 10*time.Millisecond)
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.BulkJob.WorkflowID(begun.ID), "", "by hand"))
	ended, err := env.Engine.Bulk.Get(t.Context(), begun.ID)
	require.NoError(t, err)
	require.Equal(t, job.Stopped, ended.Status)
	require.Equal(t, worked.Tally, ended.Counts.Tally)
}
