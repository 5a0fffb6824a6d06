package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// The ladder of behaviours. A timer carries the number it was booked under
// (timer.Spec.Behaviour) and may be read by the code of years to come, so a
// number is never changed or reused: a new behaviour is added below, with a
// frozen history under testdata, and booked with only after every worker
// knows it.
const (
	// BehaviourInitial: start delay, first attempt as a local activity, every
	// other attempt as an activity that the server paces; changes end a run.
	BehaviourInitial = 1

	// BehaviourLiveRetries: the latest time of a delivery is the workflow's to keep,
	// which asks for the live policy then; an attempt may take as long as any policy
	// allows, and shows signs of life; a delivery that was lost goes on where it was.
	BehaviourLiveRetries = 2

	// BehaviourNow is the one that new timers are booked with, and that a timer goes
	// over to with its next run.
	BehaviourNow = BehaviourLiveRetries
)

// live reports whether a delivery that begins now is of [BehaviourLiveRetries]. A run
// that was booked before goes over to it unless its delivery began before as well.
func (t *timerRun) live() bool {
	if t.spec.Behaviour >= BehaviourLiveRetries {
		return true
	}
	return workflow.GetVersion(t.ctx, changeLive, workflow.DefaultVersion, BehaviourLiveRetries) == BehaviourLiveRetries
}

// deliverInitial delivers under [BehaviourInitial]: the latest time is fixed when the
// attempts are scheduled.
func (t *timerRun) deliverInitial(first delivery.Report) decision {
	last := first
	for !last.Result.Final() {
		report, err := t.awaitDelivery(last)
		if err == nil {
			last = report
			continue
		}
		if t.interrupted() {
			return t.applyPending()
		}
		return t.finish(lastReport(err, last))
	}
	return t.finish(last)
}

// awaitDelivery returns when the delivery succeeded, gave up, or was called off
// for a change or a cancel. It waits for an attempt in flight to end, so that
// it knows whether the receiver took it.
func (t *timerRun) awaitDelivery(last delivery.Report) (delivery.Report, error) {
	ctx, callOff := workflow.WithCancel(workflow.WithActivityOptions(t.ctx, t.deliverOptions(last)))
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

func (t *timerRun) deliverOptions(last delivery.Report) workflow.ActivityOptions {
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
		options.ScheduleToCloseTimeout = max(last.Latest.Until(workflow.Now(t.ctx)), 0) + timeout + tuning.DeliverSlack
	}
	return options
}

// lastReport is the report in the error that ended a delivery, or what was known
// before. One that would have been tried again ran out of time.
func lastReport(err error, known delivery.Report) delivery.Report {
	report, ok := reportFrom(err)
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
