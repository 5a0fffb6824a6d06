package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

const (
	// nearlyDue is the wait that an attempt itself may sit out. Below it a
	// second backoff would cost more than it saves: Temporal's timer queue
	// fires what is due within a second late rather than early.
	nearlyDue = time.Second

	// recordSlack is the time between the end of an attempt and Temporal
	// having recorded it.
	recordSlack = 5 * time.Second
)

// Timer is the life of one timer, from its booking to its end. It completes
// when delivered or expired, fails when the ladder is used up, and ends
// Canceled when cancelled: that is what the id-reuse policy of the next
// booking goes by.
func Timer(ctx workflow.Context, spec timer.Spec, payload converter.RawValue) (timer.Outcome, error) {
	a := &alarm{spec: spec, payload: payload, changes: workflow.GetSignalChannel(ctx, SignalChange)}
	return a.run(ctx)
}

// alarm is the state of one run.
type alarm struct {
	spec    timer.Spec
	payload converter.RawValue
	changes workflow.ReceiveChannel
	// changed is whether the spec differs from the one the run began with.
	changed bool
	// delivering is whether the run shows itself as delivering.
	delivering bool
}

// run re-checks everything on its first task: a change, an update and a
// cancel each end a start delay early, and the clock of the gateway that
// computed the delay may be off.
func (a *alarm) run(ctx workflow.Context) (timer.Outcome, error) {
	a.takeChanges()
	wait := a.spec.DueAt.Until(workflow.Now(ctx))
	if a.interrupted(ctx) {
		if report, ok := a.receipt(ctx); ok {
			return a.follow(ctx, report)
		}
		return timer.Outcome{}, a.giveWay(ctx)
	}
	if wait > nearlyDue {
		return timer.Outcome{}, a.rearm(ctx)
	}
	return a.follow(ctx, a.ring(ctx))
}

// takeChanges applies every change that has arrived.
func (a *alarm) takeChanges() {
	var change timer.Change
	for a.changes.ReceiveAsync(&change) {
		a.apply(change)
		change = timer.Change{}
	}
}

func (a *alarm) apply(change timer.Change) {
	if change.Booking != "" && change.Booking == a.spec.Booking {
		return // this change booked the timer
	}
	a.changed = true
	spec, err := a.spec.Apply(change)
	if err != nil {
		a.spec.Refused = change.ID
		return
	}
	a.spec = spec
	if change.Terms.Payload != nil || change.Replace {
		a.payload = Encode(change.Terms.Payload)
	}
}

func (a *alarm) interrupted(ctx workflow.Context) bool { return a.changed || ctx.Err() != nil }

// giveWay ends the run for what interrupted it. A cancel outweighs a change.
func (a *alarm) giveWay(ctx workflow.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.rearm(ctx)
}

// rearm ends the run and begins the next one, cold until the due time. Memo and
// search attributes carry over.
func (a *alarm) rearm(ctx workflow.Context) error {
	if a.changed {
		if err := workflow.UpsertMemo(ctx, map[string]any{MemoTimer: a.spec.Card}); err != nil {
			return err
		}
	}
	if a.delivering {
		if err := workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueUnset()); err != nil {
			return err
		}
	}
	options := workflow.ContinueAsNewErrorOptions{
		BackoffStartInterval: max(a.spec.DueAt.Until(workflow.Now(ctx)), 0),
	}
	return workflow.NewContinueAsNewErrorWithOptions(ctx, options, TypeTimer, a.spec, a.payload)
}

// receipt asks whether this run has rung already. A task whose closing command
// collided with a new event is handed out again without what its local
// activity did (UnhandledCommand); what interrupts it then came too late.
func (a *alarm) receipt(ctx workflow.Context) (timer.Report, bool) {
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	report := a.tryRing(detached, timer.Delivery{Spec: a.spec, ReceiptOnly: true})
	return report, report.Result != timer.ResultAside
}

// ring makes the first attempt on the fast path: as a local activity, within
// this workflow task.
func (a *alarm) ring(ctx workflow.Context) timer.Report {
	return a.tryRing(ctx, timer.Delivery{Spec: a.spec})
}

func (a *alarm) tryRing(ctx workflow.Context, delivery timer.Delivery) (report timer.Report) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: nearlyDue + timer.MaxAttemptTimeout + recordSlack,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err := workflow.ExecuteLocalActivity(ctx, ActivityRing, delivery, a.payload).Get(ctx, &report)
	if err != nil {
		// A fast path that breaks down must not lose the timer.
		return timer.Report{Result: timer.ResultAside}
	}
	return report
}

// follow does what a report asks for.
func (a *alarm) follow(ctx workflow.Context, report timer.Report) (timer.Outcome, error) {
	switch report.Result {
	case timer.ResultDelivered, timer.ResultFailed, timer.ResultExpired:
		return a.finish(ctx, report)
	case timer.ResultRetry:
		return a.deliver(ctx, timer.Delivery{Spec: a.spec, Prior: &report})
	default:
		return a.deliver(ctx, timer.Delivery{Spec: a.spec})
	}
}

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

// finish turns the last report into the timer's end.
func (a *alarm) finish(ctx workflow.Context, report timer.Report) (timer.Outcome, error) {
	outcome := timer.Outcome{
		Attempts: report.Attempt, LatenessMS: report.LatenessMS, LastFailure: report.Failure,
		PolicyVersion: report.PolicyVersion,
	}
	switch report.Result {
	case timer.ResultDelivered:
		outcome.Status, outcome.DeliveredAt = timer.Delivered, report.EndedAt
		return outcome, nil
	case timer.ResultExpired:
		outcome.Status = timer.Expired
		return outcome, workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(timer.Expired)))
	default:
		outcome.Status = timer.Failed
		return timer.Outcome{}, temporal.NewNonRetryableApplicationError(reason(report), ErrorFailed, nil, outcome)
	}
}

func reason(report timer.Report) string {
	if report.Failure == nil {
		return "gave up"
	}
	return report.Failure.Message
}
