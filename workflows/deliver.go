package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// deliverRetry is for tries that left no report, since their worker died. The
// ladder is the activity's to apply, from the live policy.
func deliverRetry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: tuning.LostTryFirst, BackoffCoefficient: 2, MaximumInterval: tuning.LostTryLongest}
}

// deliver leaves the attempts that remain to the server, which holds each
// backoff, and waits for the last of them or for an interruption. first is what
// is known of the delivery so far.
func (t *timerRun) deliver(ctx workflow.Context, first delivery.Report) decision {
	setState(ctx, timer.Delivering)
	t.delivering = true
	if t.live(ctx) {
		return t.deliverLive(ctx, first)
	}
	last := first
	for !last.Result.Final() {
		report, err := t.awaitDelivery(ctx, last)
		if err == nil {
			last = report
			continue
		}
		if t.interrupted(ctx) {
			return t.applyPending(ctx)
		}
		return t.finish(ctx, lastReport(err, last))
	}
	return t.finish(ctx, last)
}

// awaitDelivery returns when the delivery succeeded, gave up, or was called off
// for a change or a cancel. It waits for an attempt in flight to end, so that
// it knows whether the receiver took it.
func (t *timerRun) awaitDelivery(ctx workflow.Context, last delivery.Report) (delivery.Report, error) {
	ctx, callOff := workflow.WithCancel(workflow.WithActivityOptions(ctx, t.deliverOptions(ctx, last)))
	defer callOff()
	d := timer.Resume(t.spec, last)
	future := workflow.ExecuteActivity(ctx, ActivityDeliver, d, t.payload)
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(future, func(workflow.Future) {})
	selector.AddReceive(t.changes, func(workflow.ReceiveChannel, bool) {
		t.drainSignals()
		if len(t.pending) > 0 {
			callOff()
		}
	})
	for !future.IsReady() {
		selector.Select(ctx)
	}
	var report delivery.Report
	err := future.Get(ctx, &report)
	return report, err
}

func (t *timerRun) deliverOptions(ctx workflow.Context, last delivery.Report) workflow.ActivityOptions {
	timeout := delivery.MaxAttemptTimeout
	if last.Timeout > 0 {
		timeout = last.Timeout.D()
	}
	options := workflow.ActivityOptions{
		TaskQueue:           t.queue(last),
		StartToCloseTimeout: tuning.DeliverSlack + timeout,
		WaitForCancellation: true,
		Summary:             "deliver " + t.spec.String(),
		RetryPolicy:         deliverRetry(),
	}
	if last.Latest != 0 {
		// A delivery that is held back ends all the same when its time is up.
		// An attempt that began in time may finish.
		options.ScheduleToCloseTimeout = max(last.Latest.Until(workflow.Now(ctx)), 0) + timeout + tuning.DeliverSlack
	}
	return options
}

// queue is where the attempt is made that follows a report.
func (t *timerRun) queue(last delivery.Report) string {
	switch {
	case last.Stream:
		return StreamQueue(t.spec.BusinessType)
	case last.PolicyVersion != 0:
		return DeliveryQueue(t.spec.BusinessType)
	default:
		return DefaultDeliveryQueue
	}
}

// lastReport is the report in the error that ended a delivery, or what was known
// before. One that would have been tried again ran out of time.
func lastReport(err error, known delivery.Report) delivery.Report {
	report, ok := reportIn(err)
	if !ok {
		report = known
	}
	_, late := errors.AsType[*temporal.TimeoutError](err)
	switch {
	case report.Result.Final():
	case late || report.Result == delivery.ResultRetry:
		report.Result = delivery.ResultExpired
	default:
		report.Result, report.Failure = delivery.ResultFailed, delivery.DeliveryBroken.Failure(0)
	}
	return report
}

// reportIn is the report of a try that failed, if it left one.
func reportIn(err error) (report delivery.Report, ok bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !app.HasDetails() || app.Details(&report) != nil {
		return delivery.Report{}, false
	}
	return report, report.Result != ""
}
