package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Job is the workflow of a kind of job: it has an order carried out by the kind's
// activity. Its result is the counts of what became of the items, also when it is
// cancelled.
func Job[Order, Counts any](kind JobKind) func(workflow.Context, Order) (Counts, error) {
	return func(ctx workflow.Context, order Order) (counts Counts, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: JobQueue, StartToCloseTimeout: tuning.JobStint, HeartbeatTimeout: tuning.JobSilence,
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
		// A job is stopped too whose worker was silent by then, or failed: it is not tried again.
		if silent, ok := errors.AsType[*temporal.TimeoutError](err); ok {
			return canceledJob(&counts, silent.LastHeartbeatDetails(&counts))
		}
		if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			return canceledJob(&counts, failed.Details(&counts))
		}
		return counts, err
	}
}

// canceledJob is the end of a job that was stopped. unread is nil where its worker has left
// how far it was. Where no worker had the job, the details are Temporal's own.
func canceledJob[Counts any](counts *Counts, unread error) (Counts, error) {
	if unread != nil {
		return *counts, temporal.NewCanceledError()
	}
	return *counts, temporal.NewCanceledError(*counts)
}
