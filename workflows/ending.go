package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// versionEnd names the point at which a run began to say how it ended. It is stored.
const versionEnd = "state-at-the-end"

// showEnd makes [AttrState] of a run that said that it was delivering say how it ended:
// Temporal's own lists go on to show it. A run that is followed by another one, or was
// terminated, says nothing.
func (a *alarm) showEnd(ctx workflow.Context, outcome timer.Outcome, err error) error {
	var next *workflow.ContinueAsNewError
	if !a.delivering || errors.As(err, &next) || outcome.Status == timer.Expired {
		return nil
	}
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	if workflow.GetVersion(ctx, versionEnd, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return nil
	}
	status := timer.Delivered
	switch {
	case temporal.IsCanceledError(err):
		status = timer.Cancelled
	case err != nil:
		status = timer.Failed
	}
	return workflow.UpsertTypedSearchAttributes(ctx, AttrState.ValueSet(string(status)))
}
