package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// A job may take weeks. A worker that is silent for a while is replaced, and so
// is, in any case, one that has worked for a day: the next one goes on where the
// last one said it was.
const (
	jobSilence = 30 * time.Second
	jobStint   = 24 * time.Hour
	jobFirst   = time.Second
	jobLongest = 30 * time.Second
)

// Job is the workflow of a kind of job: it has an order carried out by the kind's
// activity. Its result is the counts of what became of the items, also when it is
// cancelled.
func Job[Order, Counts any](kind JobKind) func(workflow.Context, Order) (Counts, error) {
	return func(ctx workflow.Context, order Order) (counts Counts, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: JobQueue, StartToCloseTimeout: jobStint, HeartbeatTimeout: jobSilence,
			WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{
				InitialInterval: jobFirst, BackoffCoefficient: 2, MaximumInterval: jobLongest,
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
