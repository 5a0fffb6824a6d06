package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Job is the workflow of a kind of job. The kind's activity carries the order out. The
// result is the counts of the items by outcome, also after a cancel.
func Job[Order, Counts any](kind JobKind) func(workflow.Context, Order) (Counts, error) {
	return func(ctx workflow.Context, order Order) (counts Counts, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: JobQueue, StartToCloseTimeout: tuning.LongestJobRun, HeartbeatTimeout: tuning.JobSilence,
			WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{
				InitialInterval: tuning.JobFirst, BackoffCoefficient: 2, MaximumInterval: tuning.JobLongest,
			},
		})
		err = workflow.ExecuteActivity(ctx, kind.Activity, order).Get(ctx, &counts)
		if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok {
			return canceledJob(&counts, stopped.Details(&counts))
		}
		if err == nil || !errors.Is(ctx.Err(), workflow.ErrCanceled) {
			return counts, err
		}
		// A job is stopped too if its worker had fallen silent or failed: it is not tried again.
		if silent, ok := errors.AsType[*temporal.TimeoutError](err); ok {
			return canceledJob(&counts, silent.LastHeartbeatDetails(&counts))
		}
		if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			return canceledJob(&counts, failed.Details(&counts))
		}
		return counts, err
	}
}

// canceledJob is the end of a stopped job. unread is nil if its worker left its progress.
// Without a worker, the details are Temporal's own.
func canceledJob[Counts any](counts *Counts, unread error) (Counts, error) {
	if unread != nil {
		return *counts, temporal.NewCanceledError()
	}
	return *counts, temporal.NewCanceledError(*counts)
}
