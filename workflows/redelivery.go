package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// A redelivery may take weeks. A worker that is silent for a while is replaced,
// and so is, in any case, one that has worked for a day: the next one goes on
// where the last one said it was.
const (
	redeliverySilence = 30 * time.Second
	redeliveryStint   = 24 * time.Hour
	redeliveryFirst   = time.Second
	redeliveryLongest = 30 * time.Second
)

// Redelivery tries the failed timers that a filter selects again. Its result is
// what became of them, also when it is cancelled.
func Redelivery(ctx workflow.Context, order timer.Redelivery) (done timer.Redelivered, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ControlQueue, StartToCloseTimeout: redeliveryStint, HeartbeatTimeout: redeliverySilence,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: redeliveryFirst, BackoffCoefficient: 2, MaximumInterval: redeliveryLongest,
		},
	})
	err = workflow.ExecuteActivity(ctx, ActivityRedeliver, order).Get(ctx, &done)
	stopped, ok := errors.AsType[*temporal.CanceledError](err)
	switch {
	case !ok:
		return done, err
	case stopped.Details(&done) != nil: // no worker had it, and Temporal says so in words of its own
		return timer.Redelivered{}, temporal.NewCanceledError()
	default:
		return done, temporal.NewCanceledError(done)
	}
}
