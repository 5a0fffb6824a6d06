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
		last, err := executeWithProgress[Counts](ctx, kind.Activity, order, &counts)
		if err == nil || !temporal.IsCanceledError(err) && !errors.Is(ctx.Err(), workflow.ErrCanceled) {
			return counts, err
		}
		// A job is stopped too if its worker had fallen silent or failed: it is not tried again.
		if last == nil {
			return counts, temporal.NewCanceledError()
		}
		return *last, temporal.NewCanceledError(*last)
	}
}
