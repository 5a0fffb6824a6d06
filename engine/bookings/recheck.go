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

// recheck verifies, before a started run is acknowledged, that its policy was not closed
// meanwhile: the start may have taken its time. If it was, recheck undoes the run, unless
// the run has ended and is no obstacle. It uses cached knowledge, and asks Temporal only if
// that is too old.
func (s *starter) recheck(ctx context.Context, spec timer.Spec, runID string) error {
	policy, err := s.policies.Recent(ctx, spec.BusinessType)
	switch {
	case err == nil:
		err = policies.RefuseClosed(policy)
	case wire.CodeOf(err) != wire.NotFound: // the booking may stand or not, and the error says so
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

// undo ends the timer that a run began, in its present run, and reports whether there was
// one to end.
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
