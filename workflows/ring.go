package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ring makes the first attempt on the fast path at its time, as a local activity within this
// workflow task. A cancel does not reach it: the run waits for an attempt in flight, because
// the receiver may have taken it. The SDK carries an attempt over that outlasts the workflow
// task, and the activity sees a cancel on the way.
func (t *timerRun) ring() (report delivery.Report) {
	ctx, release := workflow.NewDisconnectedContext(t.ctx)
	defer release()
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.FirstAttemptTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	for {
		d := timer.Delivery{Spec: t.spec, Asked: t.receiptAsked, Unanswered: t.unanswered}
		err := workflow.ExecuteLocalActivity(local, ActivityFirstAttempt, d, t.payload).Get(local, &report)
		switch {
		case err != nil: // a fast path that breaks must not lose the timer
			return delivery.Report{Result: delivery.ResultUseQueue}
		case report.Result != delivery.ResultElsewhere:
			return report
		}
		// The SDK has heartbeated for a long attempt. This worker now has the task, but
		// another worker began the attempt.
		if receipt, ok := (&receiptQuery{t}).askHolder(ctx, report.Worker); ok {
			return receipt
		}
		// What came during the question was not marked: no worker had the task.
		if t.interrupted() {
			return delivery.Report{Result: delivery.ResultInterrupted, Worker: report.Worker}
		}
	}
}

// handedOutAgain reports whether a worker had the first workflow task of this run before.
// Temporal hands a task out again in two cases:
//   - it refused a closing command, because the command collided with a new event
//     (UnhandledCommand)
//   - the task was held too long
//
// In both cases the receiver may have been called without a record. The length of the
// history shows it. A task that is handed out once finds the start, its own two events, and
// the signals and cancel that woke it.
func (t *timerRun) handedOutAgain() bool {
	once := 3 + t.signals
	if t.ctx.Err() != nil {
		once++
	}
	return workflow.GetInfo(t.ctx).GetCurrentHistoryLength() > once
}
