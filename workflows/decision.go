package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// decision is how a run of a timer ends.
type decision struct {
	// continues reports whether the timer goes on in another run, with its present spec.
	continues bool
	// outcome is how the timer's last delivery ended, if the timer did.
	outcome timer.Outcome
	// cancelled reports whether a cancel ended the timer. An occurrence may have been delivered
	// before the cancel.
	cancelled bool
}

func continued() decision { return decision{continues: true} }

// ended is the end of the timer with its last delivery.
func (t *timerRun) ended(outcome timer.Outcome) decision {
	return decision{outcome: t.spec.Ended(outcome)}
}

// cancelled is the end of the timer by a cancel, with the attempts before it.
func (t *timerRun) cancelled() decision {
	var made delivery.Report
	if t.spec.Ongoing != nil {
		made = *t.spec.Ongoing
	}
	return t.cancelledAfter(timer.CancelledAfter(made))
}

// cancelledAfter is the end of the timer by a cancel, after a delivery with this outcome.
func (t *timerRun) cancelledAfter(outcome timer.Outcome) decision {
	d := t.ended(outcome)
	d.cancelled = true
	return d
}

// carryOut is the one exit of a run.
func (t *timerRun) carryOut(d decision) (timer.Outcome, error) {
	if d.continues {
		return timer.Outcome{}, t.continueAsNew()
	}
	if d.cancelled {
		t.setEndState(timer.Cancelled)
		return timer.Outcome{}, t.cancelError(d.outcome)
	}
	t.setEndState(d.outcome.Status)
	if d.outcome.Status == timer.Failed {
		return timer.Outcome{}, temporal.NewNonRetryableApplicationError(failureMessage(d.outcome), ErrorFailed, nil, d.outcome)
	}
	return d.outcome, nil
}

// cancelError ends the run as cancelled. It tells how the delivery before ended. It tells nothing of
// one that the cancel ended before any attempt.
func (t *timerRun) cancelError(outcome timer.Outcome) error {
	if outcome.Status == timer.Cancelled && outcome.Attempts+outcome.Earlier == 0 {
		return t.ctx.Err()
	}
	return temporal.NewCanceledError(outcome)
}

func failureMessage(outcome timer.Outcome) string {
	if outcome.LastFailure == nil {
		return "gave up"
	}
	return outcome.LastFailure.Message
}

// setEndState sets [AttrState] to the end of the timer if Temporal's own status does not
// show it: an expired timer completes like a delivered one. It also replaces the state of a
// run that was delivering, since lists still show it. A terminated run sets nothing.
func (t *timerRun) setEndState(status timer.Status) {
	if status == timer.Expired || t.delivering || t.shown {
		setState(t.ctx, status)
	}
}

// setState sets [AttrState]. It fails only for a value that cannot be encoded, and a status
// always can.
func setState(ctx workflow.Context, status timer.Status) {
	_ = workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(status)))
}
