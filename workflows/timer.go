package workflows

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// nearlyDue is the wait that an attempt itself may sit out. Below it a second
// backoff would cost more than it saves: Temporal's timer queue fires what is
// due within a second late rather than early.
const nearlyDue = time.Second

// Timer is the life of one timer, from its booking to its end. It completes
// when delivered or expired, fails when the ladder is used up, and ends
// Canceled when cancelled: that is what the id-reuse policy of the next
// booking goes by.
func Timer(ctx workflow.Context, spec timer.Spec, payload converter.RawValue) (timer.Outcome, error) {
	a := &alarm{spec: spec, payload: payload, changes: workflow.GetSignalChannel(ctx, SignalChange)}
	outcome, err := a.run(ctx)
	if failed := a.showEnd(ctx, outcome, err); failed != nil {
		return timer.Outcome{}, failed
	}
	return outcome, err
}

// alarm is the state of one run.
type alarm struct {
	spec    timer.Spec
	payload converter.RawValue
	changes workflow.ReceiveChannel
	// signals counts what has arrived; heard is what of it has still to be
	// applied.
	signals int
	heard   []timer.Change
	// changed is whether the spec differs from the one the run began with.
	changed bool
	// asked is whether a worker that had the task before was asked in vain.
	asked bool
	// delivering is whether the delivery of the present occurrence has begun.
	delivering bool
}

// run re-checks everything on its first task: a change, an update and a
// cancel each end a start delay early, and the clock of the gateway that
// computed the delay may be off.
func (a *alarm) run(ctx workflow.Context) (timer.Outcome, error) {
	a.hear()
	if a.handedOutAgain(ctx) {
		if report, ok := a.receipt(ctx); ok {
			return a.follow(ctx, report)
		}
	}
	if a.interrupted(ctx) {
		return timer.Outcome{}, a.giveWay(ctx)
	}
	if !a.seek(ctx) {
		return a.end(ctx, timer.Outcome{Status: timer.Expired})
	}
	if !a.due(ctx) {
		return timer.Outcome{}, a.rearm(ctx)
	}
	return a.follow(ctx, a.ring(ctx))
}

// seek looks which occurrence a recurring timer rings for: one that overslept
// makes up for what it missed as its rule says. It reports whether there is one.
func (a *alarm) seek(ctx workflow.Context) (ok bool) {
	if a.spec.Series == nil || a.spec.Resting() {
		return true
	}
	a.spec.Card, ok = a.spec.Seek(timer.At(workflow.Now(ctx)))
	return ok
}

// due reports whether it is time to ring, or so nearly that a worker shall hold
// the timer until then.
func (a *alarm) due(ctx workflow.Context) bool {
	return !a.spec.Resting() && a.spec.RingsAt().Until(workflow.Now(ctx)) <= max(a.spec.Lead(), nearlyDue)
}

// hear takes the changes that have arrived. They are applied when nothing is
// under way any more: a delivery ends as what it began as.
func (a *alarm) hear() {
	var change timer.Change
	for a.changes.ReceiveAsync(&change) {
		a.signals++
		if change.Booking == "" || change.Booking != a.spec.Booking { // else it booked the timer
			a.heard = append(a.heard, change)
		}
		change = timer.Change{}
	}
}

func (a *alarm) apply() {
	var refused []timer.Refusal
	for _, change := range a.heard {
		a.changed = true
		change.Interrupts = a.delivering
		spec, err := a.spec.Apply(change)
		if err != nil {
			refused = append(refused, timer.RefusalOf(change, err))
			continue
		}
		a.spec = spec
		a.delivering = a.delivering && change.Wake
		if change.Terms.Payload != nil || change.Replace {
			a.payload = Encode(change.Terms.Payload)
		}
	}
	a.spec.Card = a.spec.Refuse(refused)
	a.heard = nil
}

// interrupted is whether a change or a cancel has arrived.
func (a *alarm) interrupted(ctx workflow.Context) bool {
	a.hear()
	return len(a.heard) > 0 || ctx.Err() != nil
}

// giveWay ends the run for what interrupted it. A cancel outweighs every change,
// whatever came first.
func (a *alarm) giveWay(ctx workflow.Context) error {
	if err := ctx.Err(); err != nil && !a.onlyCalledOff(ctx) {
		return err
	}
	a.apply()
	return a.rearm(ctx)
}

// onlyCalledOff is whether the cancel was an older gateway's way to tell a worker
// of a change. It asks until it is told: a run that took a change for a cancel
// would lose its timer.
func (a *alarm) onlyCalledOff(ctx workflow.Context) (only bool) {
	if len(a.heard) == 0 {
		return false
	}
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: askTimeout, ScheduleToCloseTimeout: timer.MaxAhead,
		RetryPolicy: &temporal.RetryPolicy{MaximumInterval: time.Second},
	})
	var cause string
	err := workflow.ExecuteLocalActivity(ctx, ActivityCause).Get(ctx, &cause)
	return err == nil && cause == CauseChange
}

// finish turns the last report into the timer's end, or into the next
// occurrence.
func (a *alarm) finish(ctx workflow.Context, report timer.Report) (timer.Outcome, error) {
	outcome := timer.Outcome{
		Status: timer.Failed, Attempts: report.Attempt, LatenessMS: report.LatenessMS, LastFailure: report.Failure,
		PolicyVersion: report.PolicyVersion,
	}
	switch report.Result {
	case timer.ResultDelivered:
		outcome.Status, outcome.DeliveredAt = timer.Delivered, report.EndedAt
	case timer.ResultExpired:
		outcome.Status = timer.Expired
		a.alert(ctx, report, timer.EventExpired)
	default:
		a.alert(ctx, report, timer.EventFailed)
	}
	if a.spec.Series != nil {
		now := timer.At(workflow.Now(ctx))
		if next, ok := a.spec.After(a.spec.Key, outcome, max(now, report.EndedAt)); ok {
			a.spec.Card, a.delivering = next, false
			return timer.Outcome{}, a.recur(ctx)
		}
	}
	return a.end(ctx, outcome)
}

// recur goes on to the next occurrence. A cancel that came during the delivery
// ends the whole chain, and a change applies to what is ahead.
func (a *alarm) recur(ctx workflow.Context) error {
	a.hear()
	return a.giveWay(ctx)
}

// end closes the timer for good.
func (a *alarm) end(ctx workflow.Context, outcome timer.Outcome) (timer.Outcome, error) {
	switch outcome.Status {
	case timer.Delivered:
		return outcome, nil
	case timer.Expired:
		return outcome, workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(timer.Expired)))
	default:
		return timer.Outcome{}, temporal.NewNonRetryableApplicationError(reason(outcome), ErrorFailed, nil, outcome)
	}
}

// alert raises an event for a delivery that ended badly.
func (a *alarm) alert(ctx workflow.Context, report timer.Report, event timer.EventType) {
	if !report.Alert {
		return
	}
	raise(ctx, timer.Event{Type: event, At: timer.At(workflow.Now(ctx)), Data: timer.EventData{
		BusinessType: a.spec.BusinessType, BusinessID: a.spec.BusinessID, DueAt: a.spec.DueAt,
		Attempts: report.Attempt, WebhookID: a.spec.WebhookID(), LastFailure: report.Failure,
	}}, workflow.GetInfo(ctx).WorkflowExecution.RunID)
}

func reason(outcome timer.Outcome) string {
	if outcome.LastFailure == nil {
		return "gave up"
	}
	return outcome.LastFailure.Message
}
