package bookings

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/errtype"
)

// recheck makes sure, before a run that was started is acknowledged, that its policy was
// not closed meanwhile: the start may have taken its time. Else it is undone, unless it
// has ended by now: then it is in nobody's way. It asks what is at hand, and Temporal
// only where that is too old.
func (s *starter) recheck(ctx context.Context, spec timer.Spec, runID string) error {
	policy, err := s.policies.Recent(ctx, spec.BusinessType)
	switch {
	case err == nil:
		err = policies.RefuseClosed(policy)
	case wire.CodeOf(err) != wire.NotFound: // the booking stands, or not: that is told
		return err
	case spec.Callback != nil && spec.Callback.Addressed():
		return nil
	default:
		err = policies.UnknownType(spec.BusinessType)
	}
	if err == nil {
		return nil
	}
	undone, failed := s.undo(ctx, spec.Key, runID)
	switch {
	case failed != nil:
		return failed
	case !undone:
		return nil
	default:
		return err
	}
}

// undo ends what began with a run, in whatever run it is by now, and reports whether
// there was something to end.
func (s *starter) undo(ctx context.Context, key wire.Key, firstRunID string) (undone bool, err error) {
	_, err = s.kernel.Client.WorkflowService().TerminateWorkflowExecution(ctx, &workflowservice.TerminateWorkflowExecutionRequest{
		Namespace: s.kernel.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: key.String()},
		FirstExecutionRunId: firstRunID, Identity: actors.Identity, Reason: "the policy is being deleted",
	})
	if errtype.Is[*serviceerror.NotFound](err) {
		return false, nil
	}
	return err == nil, kernel.Translate(err)
}
