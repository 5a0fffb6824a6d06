package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// receiptQuery finds the report of a first attempt whose record was lost.
type receiptQuery struct{ *timerRun }

// find asks for the report of the attempt that may have been made: this worker first, then
// the previous holder of the task.
func (q *receiptQuery) find() (report delivery.Report, ok bool) {
	ctx, release := workflow.NewDisconnectedContext(q.ctx)
	defer release()
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.FirstAttemptTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 5},
	})
	err := workflow.ExecuteLocalActivity(local, ActivityReceipt, timer.Delivery{Spec: q.spec}).Get(ctx, &report)
	if err == nil && report.Result == delivery.ResultElsewhere {
		return q.askHolder(ctx, report.Worker)
	}
	return report, err == nil && hasAttempt(report)
}

// askHolder asks the previous holder of the task, unless it has stored its receipt. It may
// also store the receipt during the question and stop before it answers. The attempt of a
// holder that does not answer counts as one in flight at a crash, unless the next worker says
// that the holder lives. A cancel does not reach ctx.
func (q *receiptQuery) askHolder(ctx workflow.Context, worker string) (delivery.Report, bool) {
	if report, ok := q.storedReceipt(); ok {
		return report, hasAttempt(report)
	}
	q.receiptAsked = true
	report, err := q.askWorker(ctx, worker)
	switch {
	case err != nil:
		q.unanswered = q.unanswered.Again(worker)
	case hasAttempt(report):
		return report, true
	default:
		q.unanswered = timer.Unanswered{}
	}
	report, ok := q.storedReceipt()
	return report, ok && hasAttempt(report)
}

// storedReceipt is the receipt that a stopping worker has stored in the run, since it can no
// longer be asked.
func (q *receiptQuery) storedReceipt() (report delivery.Report, ok bool) {
	ok = workflow.GetSignalChannel(q.ctx, SignalReceipt).ReceiveAsync(&report)
	return report, ok
}

// askWorker returns a worker's report of the attempt. A frozen worker takes the question and
// sends no heartbeat. The error is that of a worker that did not answer.
func (q *receiptQuery) askWorker(ctx workflow.Context, worker string) (report delivery.Report, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ReceiptQueue(worker), ScheduleToStartTimeout: tuning.QuestionTimeout, HeartbeatTimeout: tuning.QuestionTimeout,
		StartToCloseTimeout: tuning.FirstAttemptTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: "ask the worker that had the task",
	})
	err = workflow.ExecuteActivity(ctx, ActivityAsk, timer.Delivery{Spec: q.spec}).Get(ctx, &report)
	return report, err
}

// hasAttempt reports whether a report describes an attempt.
func hasAttempt(report delivery.Report) bool {
	return report.Result != delivery.ResultUseQueue && report.Result != delivery.ResultElsewhere
}
