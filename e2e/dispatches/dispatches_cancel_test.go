package dispatches

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// failing is an activity that makes progress in its first attempt, and fails in all. Each
// failure doubles the wait for the next one.
type failing struct{ progress any }

func (f failing) attempt(ctx context.Context) error {
	if activity.GetInfo(ctx).Attempt == 1 {
		activity.RecordHeartbeat(ctx, f.progress)
	}
	return errors.New("the store is away")
}

// poll polls a queue of activities until the test ends.
func (f failing) poll(t *testing.T, client client.Client, queue, name string) {
	t.Helper()
	w := sdkworker.New(client, queue, sdkworker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(f.attempt, activity.RegisterOptions{Name: name})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

// Temporal ends an activity between two of its attempts at once when it is cancelled, and forgets its
// heartbeats. What was sent by then is counted nevertheless.
func TestACancelBetweenTwoAttempts(t *testing.T) {
	t.Parallel()
	env := testenv.Open(t, testenv.Alone(t))
	w := sdkworker.New(env.Client, workflows.TaskQueue, sdkworker.Options{LocalActivityWorkerOnly: true})
	workflows.Register(w)
	control := activities.Controller{Runs: env.Engine.Runs}
	w.RegisterActivityWithOptions(control.LastHeartbeat, activity.RegisterOptions{Name: workflows.ActivityLastHeartbeat})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)

	begin := func(kind string, order any) client.WorkflowRun {
		run, err := env.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: workflows.TaskQueue}, kind, order)
		require.NoError(t, err)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			described, err := env.Client.DescribeWorkflowExecution(t.Context(), run.GetID(), "")
			require.NoError(c, err)
			require.Len(c, described.GetPendingActivities(), 1)
			require.Greater(c, described.GetPendingActivities()[0].GetAttempt(), int32(1))
		}, testenv.Patience, 10*time.Millisecond)
		require.NoError(t, env.Client.CancelWorkflow(t.Context(), run.GetID(), ""))
		return run
	}

	sent := dispatch.State{Page: 4, Counts: dispatch.Counts{Found: 327, Done: 327, Callbacks: 330}}
	failing{sent}.poll(t, env.Client, workflows.DispatchQueue, workflows.ActivityDispatch)
	var state dispatch.State
	require.NoError(t, begin(workflows.TypeDispatchShard, dispatch.Shard{}).Get(t.Context(), &state))
	require.Equal(t, sent, state)

	worked := job.BulkProgress{Tally: job.Tally{Done: 3, Skipped: 1}}
	failing{worked}.poll(t, env.Client, workflows.JobQueue, workflows.ActivityBulk)
	err := begin(workflows.TypeBulk, job.Bulk{}).Get(t.Context(), nil)
	stopped, ok := errors.AsType[*temporal.CanceledError](err)
	require.True(t, ok, "%v", err)
	var progress job.BulkProgress
	require.NoError(t, stopped.Details(&progress))
	require.Equal(t, worked, progress)
}
