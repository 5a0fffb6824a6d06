package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// executeWithProgress is [workflow.ExecuteActivity] for an activity whose heartbeats report its
// progress. After a cancel the progress is known too: from the activity's own answer, or from
// its last heartbeat. The progress is nil if the activity has reported none.
func executeWithProgress[Progress, Result any](ctx workflow.Context, name string, order any, result *Result) (*Progress, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	outlasting, _ := workflow.NewDisconnectedContext(ctx)
	work, stop := workflow.WithCancel(outlasting)
	defer stop()
	done := workflow.ExecuteActivity(work, name, order)
	workflow.NewSelector(ctx).
		AddFuture(done, func(workflow.Future) {}).
		AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {}).
		Select(ctx)
	var last *Progress
	if !done.IsReady() {
		last = lastHeartbeat[Progress](work)
		stop()
	}
	err := done.Get(outlasting, result)
	if reported, ok := progressIn[Progress](err); ok {
		last = reported
	}
	return last, err
}

// lastHeartbeat reads what the run's activity has reported. It must precede a cancel: Temporal ends a
// cancelled activity at once if no worker has it, and then forgets its heartbeats.
func lastHeartbeat[Progress any](ctx workflow.Context) (last *Progress) {
	if workflow.GetVersion(ctx, changeReadsHeartbeat, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return nil
	}
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.QuestionTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2},
	})
	if err := workflow.ExecuteLocalActivity(ctx, ActivityLastHeartbeat).Get(ctx, &last); err != nil {
		workflow.GetLogger(ctx).Warn("The progress of a cancelled activity is unknown", "error", err)
		return nil
	}
	return last
}

// progressIn reads the progress in the error of an activity. Where no worker had the activity, the details
// are Temporal's own, and no progress.
func progressIn[Progress any](err error) (*Progress, bool) {
	var progress Progress // what a heartbeat does not say is zero
	read := temporal.ErrNoData
	if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok {
		read = stopped.Details(&progress)
	} else if silent, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		read = silent.LastHeartbeatDetails(&progress)
	} else if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		read = failed.Details(&progress)
	}
	return &progress, read == nil
}
