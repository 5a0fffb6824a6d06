package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ring makes the first attempt on the fast path, at its time: as a local
// activity, within this workflow task. It is out of reach of a cancel: an
// attempt in flight is waited for, so that it is known whether the receiver took
// it. An attempt that outlasts the workflow task is carried over by the SDK, and
// a cancel is seen on the way.
func (t *timerRun) ring() (report delivery.Report) {
	ctx, release := workflow.NewDisconnectedContext(t.ctx)
	defer release()
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.FirstAttemptTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	for {
		d := timer.Delivery{Spec: t.spec, Asked: t.receiptAsked}
		err := workflow.ExecuteLocalActivity(local, ActivityFirstAttempt, d, t.payload).Get(local, &report)
		switch {
		case err != nil: // a fast path that breaks down must not lose the timer
			return delivery.Report{Result: delivery.ResultUseQueue}
		case report.Result != delivery.ResultElsewhere:
			return report
		}
		// Temporal was told that the attempt takes long, and this worker has the task
		// by now: another one began the attempt.
		if receipt, ok := (&receiptQuery{t}).askHolder(ctx, report.Worker); ok {
			return receipt
		}
	}
}

// handedOutAgain reports whether the first workflow task of this run was with a
// worker before. Temporal refuses a closing command that collides with a new
// event (UnhandledCommand) and hands a task out again that was held too long;
// in both cases the receiver may have been called, and no record of it exists.
// It shows in the length of the history: a first task that is handed out once
// finds the start, its own two events, and the signals and cancel that woke it.
func (t *timerRun) handedOutAgain() bool {
	once := 3 + t.signals
	if t.ctx.Err() != nil {
		once++
	}
	return workflow.GetInfo(t.ctx).GetCurrentHistoryLength() > once
}
