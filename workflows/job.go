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
		stopped, ok := errors.AsType[*temporal.CanceledError](err)
		if !ok {
			return counts, err
		}
		if stopped.Details(&counts) != nil { // no worker had it, and Temporal says so in words of its own
			return counts, temporal.NewCanceledError()
		}
		return counts, temporal.NewCanceledError(counts)
	}
}
