package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Nudging names a run, and the worker that has its task.
type Nudging struct {
	Worker string `json:"worker"`
	RunID  string `json:"run_id"`
}

// Nudge makes a worker look at once at a timer that it holds: Temporal keeps a
// cancel or a change from it while it has the task. It may fail, since the
// worker looks in any case before it rings.
func Nudge(ctx workflow.Context, nudging Nudging) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ReceiptQueue(nudging.Worker), ScheduleToCloseTimeout: askTimeout,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, ActivityLook, nudging.RunID).Get(ctx, nil)
}
