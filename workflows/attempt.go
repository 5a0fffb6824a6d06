package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// handedOutAgain reports whether the first workflow task of this run was with a
// worker before. Temporal refuses a closing command that collides with a new
// event (UnhandledCommand) and hands a task out again that was held too long;
// in both cases the receiver may have been called, and no record of it exists.
// It shows in the length of the history: a first task that is handed out once
// finds the start, its own two events, and the signals and cancel that woke it.
func (t *timerRun) handedOutAgain(ctx workflow.Context) bool {
	once := 3 + t.signals
	if ctx.Err() != nil {
		once++
	}
	return workflow.GetInfo(ctx).GetCurrentHistoryLength() > once
}

// receipt asks what came of the attempt that may have been made: this worker
// first, then the one that had the task. A worker that does not answer has
// died, and the attempt counts as one in flight at a crash.
func (t *timerRun) receipt(ctx workflow.Context) (delivery.Report, bool) {
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	var report delivery.Report
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.FirstAttemptTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 5},
	})
	err := workflow.ExecuteLocalActivity(local, ActivityReceipt, timer.Delivery{Spec: t.spec}).Get(ctx, &report)
	if err == nil && report.Result == delivery.ResultElsewhere {
		return t.askHolder(ctx, report.Worker)
	}
	return report, err == nil && hasAttempt(report)
}

// The points at which a run takes what a stopped worker has left: before that one is asked,
// and when it was asked in vain. Workers of builds before did not know them. They are stored.
const (
	versionReceipt     = "receipt"
	versionLateReceipt = "late-receipt"
)

// storedReceipt is the receipt that a worker has left in the run as it stopped: it is not there to
// be asked. version names the point at which it is looked for.
func (t *timerRun) storedReceipt(ctx workflow.Context, version string) (report delivery.Report, ok bool) {
	if !workflow.GetSignalChannel(ctx, SignalReceipt).ReceiveAsync(&report) {
		return report, false
	}
	return report, workflow.GetVersion(ctx, version, workflow.DefaultVersion, 1) == 1
}

// askHolder asks a worker that had the task before, unless it has left its receipt. It may also
// leave it while it is asked, and be gone before it answers.
func (t *timerRun) askHolder(ctx workflow.Context, worker string) (delivery.Report, bool) {
	if report, ok := t.storedReceipt(ctx, versionReceipt); ok {
		return report, hasAttempt(report)
	}
	t.receiptAsked = true
	if report, ok := t.askWorker(ctx, worker); ok {
		return report, true
	}
	report, ok := t.storedReceipt(ctx, versionLateReceipt)
	return report, ok && hasAttempt(report)
}

// askWorker is what a worker says of the attempt. One that is frozen takes the question and
// gives no sign of life.
func (t *timerRun) askWorker(ctx workflow.Context, worker string) (report delivery.Report, ok bool) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ReceiptQueue(worker), ScheduleToStartTimeout: tuning.QuestionTimeout, HeartbeatTimeout: tuning.QuestionTimeout,
		StartToCloseTimeout: tuning.FirstAttemptTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: "ask the worker that had the task",
	})
	err := workflow.ExecuteActivity(ctx, ActivityAsk, timer.Delivery{Spec: t.spec}).Get(ctx, &report)
	return report, err == nil && hasAttempt(report)
}

// hasAttempt reports whether a report tells of an attempt.
func hasAttempt(report delivery.Report) bool {
	return report.Result != delivery.ResultUseQueue && report.Result != delivery.ResultElsewhere
}

// firstAttempt makes the first attempt on the fast path, at its time: as a local
// activity, within this workflow task. It is out of reach of a cancel: an
// attempt in flight is waited for, so that it is known whether the receiver took
// it. An attempt that outlasts the workflow task is carried over by the SDK, and
// a cancel is seen on the way.
func (t *timerRun) firstAttempt(ctx workflow.Context) (report delivery.Report) {
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.FirstAttemptTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	for {
		d := timer.Delivery{Spec: t.spec, Asked: t.receiptAsked}
		err := workflow.ExecuteLocalActivity(ctx, ActivityFirstAttempt, d, t.payload).Get(ctx, &report)
		switch {
		case err != nil: // a fast path that breaks down must not lose the timer
			return delivery.Report{Result: delivery.ResultUseQueue}
		case report.Result != delivery.ResultElsewhere:
			return report
		}
		// Temporal was told that the attempt takes long, and this worker has the task
		// by now: another one began the attempt.
		if receipt, ok := t.askHolder(ctx, report.Worker); ok {
			return receipt
		}
	}
}
