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
	return a.run(ctx)
}

// alarm is the state of one run.
type alarm struct {
	spec    timer.Spec
	payload converter.RawValue
	changes workflow.ReceiveChannel
	// signals counts what has arrived.
	signals int
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
	if a.handedOutAgain(ctx) {
		if report, ok := a.receipt(ctx); ok {
			return a.follow(ctx, report)
		}
	}
	if a.interrupted(ctx) {
		return timer.Outcome{}, a.giveWay(ctx)
	}
	if a.spec.DueAt.Until(workflow.Now(ctx)) > nearlyDue {
		return timer.Outcome{}, a.rearm(ctx)
	}
	return a.follow(ctx, a.ring(ctx))
}

// takeChanges applies every change that has arrived.
func (a *alarm) takeChanges() {
	var change timer.Change
	for a.changes.ReceiveAsync(&change) {
		a.signals++
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
