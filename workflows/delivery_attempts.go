package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// makeAttempts leaves the attempts to the server until the last of them, or until they are
// cancelled. It waits for an attempt in flight to end: an attempt that began in time counts.
func (d *deliveryRun) makeAttempts() error {
	attempts, cancel := workflow.WithCancel(workflow.WithActivityOptions(d.ctx, d.options()))
	defer cancel()
	d.cancelAttempts, d.resumed, d.streamDown = cancel, false, false
	d.watchStream(attempts)
	handed := d.last.Handed
	future := workflow.ExecuteActivity(attempts, ActivityDeliver, timer.Resume(d.spec, d.last), d.payload)
	for !future.IsReady() {
		d.awaitAttempts(future)
	}
	var report delivery.Report
	err := future.Get(d.ctx, &report)
	if err == nil {
		d.last = report
	} else if left, ok := reportFrom(err); ok {
		d.last = left
	}
	if handed != nil && d.streamMissed(err) {
		d.last = d.last.MissHandover(*handed)
	}
	return err
}

func (d *deliveryRun) options() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              d.queue(),
		ScheduleToStartTimeout: d.scheduleToStartTimeout(),
		StartToCloseTimeout:    tuning.LiveTimeout,
		HeartbeatTimeout:       d.heartbeatTimeout(),
		WaitForCancellation:    true,
		Summary:                "deliver " + d.spec.String(),
		RetryPolicy:            deliverRetry(),
	}
}

// queue is the task queue of the next attempt.
func (d *deliveryRun) queue() string {
	switch {
	case d.last.Stream:
		return StreamQueue(d.spec.BusinessType)
	case d.last.PolicyVersion != 0:
		return DeliveryQueue(d.spec.BusinessType)
	default:
		return DefaultDeliveryQueue
	}
}

// deliverRetry is for attempts without a report, whose worker died. The activity applies the
// ladder from the live policy.
func deliverRetry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: tuning.LostTryFirst, BackoffCoefficient: 2, MaximumInterval: tuning.LostTryLongest}
}

// awaitAttempts waits for the attempts to end, or for an event meanwhile.
func (d *deliveryRun) awaitAttempts(attempts workflow.Future) {
	selector := workflow.NewSelector(d.ctx)
	selector.AddFuture(attempts, func(workflow.Future) {})
	selector.AddReceive(d.changes, func(workflow.ReceiveChannel, bool) {
		if d.drainSignals() {
			d.stalled = true
			d.queryRunState()
		}
		if len(d.pending) > 0 { // a cancel discards the recorded report of the attempts
			d.queryRunState()
		}
	})
	if d.expiry != nil {
		selector.AddFuture(d.expiry, func(f workflow.Future) {
			d.expiry = nil
			if f.Get(d.ctx, nil) == nil {
				d.queryRunState()
			}
		})
	}
	if d.streamWatch != nil {
		selector.AddFuture(d.streamWatch, d.endStreamWatch)
	}
	if d.runState != nil {
		selector.AddFuture(d.runState, d.applyRunState)
	}
	selector.Select(d.ctx)
}

// failedWithoutReport reports whether an error ends a delivery that was not cancelled and
// left no report. A timeout does not: the next attempts continue from there.
func failedWithoutReport(err error) bool {
	if _, ok := reportFrom(err); ok || err == nil {
		return false
	}
	_, late := errors.AsType[*temporal.TimeoutError](err)
	return !late
}

// reportFrom returns the report of a failed attempt, if it left one.
func reportFrom(err error) (report delivery.Report, ok bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !app.HasDetails() || app.Details(&report) != nil {
		return delivery.Report{}, false
	}
	return report, report.Result != ""
}
