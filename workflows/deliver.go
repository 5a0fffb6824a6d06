package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// deliver leaves the attempts that remain to the server, which holds each
// backoff, and waits for the last of them or for an interruption.
func (a *alarm) deliver(ctx workflow.Context, delivery timer.Delivery) (timer.Outcome, error) {
	a.delivering = true
	if err := workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(timer.Delivering))); err != nil {
		return timer.Outcome{}, err
	}
	report, err := a.awaitDelivery(ctx, delivery)
	if err == nil {
		return a.finish(ctx, report)
	}
	a.takeChanges()
	if a.interrupted(ctx) {
		return timer.Outcome{}, a.giveWay(ctx)
	}
	return a.finish(ctx, lastReport(err))
}

// awaitDelivery returns when the delivery succeeded, gave up, or was called off
// for a change or a cancel. It waits for an attempt in flight to end, so that
// it knows whether the receiver took it.
func (a *alarm) awaitDelivery(ctx workflow.Context, delivery timer.Delivery) (timer.Report, error) {
	ctx, callOff := workflow.WithCancel(workflow.WithActivityOptions(ctx, deliverOptions(delivery)))
	defer callOff()
	future := workflow.ExecuteActivity(ctx, ActivityDeliver, delivery, a.payload)
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(future, func(workflow.Future) {})
	selector.AddReceive(a.changes, func(workflow.ReceiveChannel, bool) {
		a.takeChanges()
		if a.changed {
			callOff()
		}
	})
	for !future.IsReady() {
		selector.Select(ctx)
	}
	var report timer.Report
	err := future.Get(ctx, &report)
	return report, err
}

func deliverOptions(delivery timer.Delivery) workflow.ActivityOptions {
	timeout := timer.MaxAttemptTimeout
	if delivery.Prior != nil && delivery.Prior.Timeout > 0 {
		timeout = delivery.Prior.Timeout.D()
	}
	return workflow.ActivityOptions{
		TaskQueue:           DeliveryQueue,
		StartToCloseTimeout: timeout + recordSlack,
		WaitForCancellation: true,
		Summary:             "deliver " + delivery.Spec.String(),
		// The ladder is the activity's to apply, from the live policy. This
		// policy is for attempts whose worker died: no answer, no verdict.
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	}
}

// lastReport is the report in the error that ended a delivery.
func lastReport(err error) (report timer.Report) {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.HasDetails() {
		if app.Details(&report) == nil && report.Result != "" {
			return report
		}
	}
	return timer.Report{
		Result:  timer.ResultFailed,
		Failure: &timer.Failure{Message: timer.Excerpt(err.Error())},
	}
}
