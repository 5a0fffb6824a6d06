package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// decision is how a run of a timer ends.
type decision struct {
	// again is whether the timer goes on in another run, as its spec is by now.
	again bool
	// outcome is how the timer ended, where it does not go on.
	outcome timer.Outcome
	// broken is why the run cannot be ended as it should.
	broken error
}

func goOn() decision { return decision{again: true} }

func ended(outcome timer.Outcome) decision { return decision{outcome: outcome} }

func cancelled() decision { return ended(timer.Outcome{Status: timer.Cancelled}) }

// carryOut is the one exit of a run.
func (t *timerRun) carryOut(ctx workflow.Context, d decision) (timer.Outcome, error) {
	if d.broken == nil && !d.again {
		d.broken = t.showEnd(ctx, d.outcome.Status)
	}
	switch {
	case d.broken != nil:
		return timer.Outcome{}, d.broken
	case d.again:
		return timer.Outcome{}, t.continueAsNew(ctx)
	}
	switch d.outcome.Status {
	case timer.Cancelled:
		return timer.Outcome{}, ctx.Err()
	case timer.Failed:
		return timer.Outcome{}, temporal.NewNonRetryableApplicationError(reason(d.outcome), ErrorFailed, nil, d.outcome)
	default:
		return d.outcome, nil
	}
}

func reason(outcome timer.Outcome) string {
	if outcome.LastFailure == nil {
		return "gave up"
	}
	return outcome.LastFailure.Message
}

// versionEnd names the point at which a run began to say how it ended. It is stored.
const versionEnd = "state-at-the-end"

// showEnd makes [AttrState] say that a timer expired, which completes like one that was
// delivered, and how a run ended that said that it was delivering: Temporal's own lists
// go on to show it. A run that was terminated says nothing.
func (t *timerRun) showEnd(ctx workflow.Context, status timer.Status) error {
	if status == timer.Expired {
		return workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(status)))
	}
	if !t.delivering {
		return nil
	}
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	if workflow.GetVersion(ctx, versionEnd, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return nil
	}
	return workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(status)))
}
