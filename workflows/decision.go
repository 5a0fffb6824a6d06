package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/timer"
)

// decision is how a run of a timer ends.
type decision struct {
	// continues reports whether the timer goes on in another run, as its spec is by now.
	continues bool
	// outcome is how the timer ended, where it does not go on.
	outcome timer.Outcome
}

func continued() decision { return decision{continues: true} }

func ended(outcome timer.Outcome) decision { return decision{outcome: outcome} }

func cancelled() decision { return ended(timer.Outcome{Status: timer.Cancelled}) }

// carryOut is the one exit of a run.
func (t *timerRun) carryOut(d decision) (timer.Outcome, error) {
	if d.continues {
		return timer.Outcome{}, t.continueAsNew()
	}
	t.setEndState(d.outcome.Status)
	switch d.outcome.Status {
	case timer.Cancelled:
		return timer.Outcome{}, t.ctx.Err()
	case timer.Failed:
		return timer.Outcome{}, temporal.NewNonRetryableApplicationError(failureMessage(d.outcome), ErrorFailed, nil, d.outcome)
	default:
		return d.outcome, nil
	}
}

func failureMessage(outcome timer.Outcome) string {
	if outcome.LastFailure == nil {
		return "gave up"
	}
	return outcome.LastFailure.Message
}

// setEndState makes [AttrState] say that a timer expired, which completes like one that was
// delivered, and how a run ended that said that it was delivering: Temporal's own lists
// go on to show it. A run that was terminated says nothing.
func (t *timerRun) setEndState(status timer.Status) {
	if status == timer.Expired || (t.delivering && recordsEnd(t.ctx)) {
		setState(t.ctx, status)
	}
}

// recordsEnd reports whether a run that delivered says how it ended, also when it is cancelled.
func recordsEnd(ctx workflow.Context) bool {
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	return workflow.GetVersion(ctx, changeEnd, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

// setState makes [AttrState] say how the timer stands. A word can always be encoded, which
// is all that may fail, and no timer is given up for what lists show of it.
func setState(ctx workflow.Context, status timer.Status) {
	_ = workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(status)))
}
