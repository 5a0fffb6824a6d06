package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	batchpb "go.temporal.io/api/batch/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Remaining says what happens to the open timers of a policy that is deleted.
type Remaining string

// The closed list of what can happen.
const (
	// RemainingNone: there shall be none.
	RemainingNone Remaining = ""
	// RemainingCancel cancels them, at the rate of Temporal's batches.
	RemainingCancel Remaining = "cancel"
	// RemainingKeep leaves them: those without a callback of their own find no
	// receiver when they are due, and wait until there is a policy again.
	RemainingKeep Remaining = "keep"
)

// Remainings lists what can happen.
func Remainings() []Remaining { return []Remaining{RemainingNone, RemainingCancel, RemainingKeep} }

// DeletePolicy deletes a policy, and with it its limits. It needs a worker. Unless the
// timers are kept, bookings are refused first until all that were made are counted:
// that takes the time for which a policy is trusted, and two seconds. Its errors are
// [timer.NotFound], [timer.PolicyInUse] while there are open timers and nothing is
// said of them, and [timer.Unavailable], also while it is not certain whether there
// are any.
func (e *Engine) DeletePolicy(ctx context.Context, businessType, author string, remaining Remaining) error {
	ctx, cancel := context.WithTimeout(ctx, e.settling()+2*callTimeout)
	defer cancel()
	if _, _, err := e.policyRecord(ctx, businessType); err != nil {
		return err
	}
	if remaining == RemainingKeep {
		return e.dropPolicy(ctx, businessType, author, 0)
	}
	closing := &closing{engine: e, businessType: businessType, author: author, remaining: remaining, refusal: inUse}
	if err := closing.decide(ctx); err != nil {
		return err
	}
	return e.dropPolicy(ctx, businessType, author, closing.until)
}

func inUse(open int) error {
	return &timer.Error{Code: timer.PolicyInUse, Message: "The business type has " + strconv.Itoa(open) +
		" open timers. Say timers=cancel or timers=keep."}
}

// dropPolicy deletes the policy that is closed until then, or as it is if that is 0.
func (e *Engine) dropPolicy(ctx context.Context, businessType, author string, closedUntil timer.Instant) error {
	defer e.policies.forget(businessType)
	args := []any{author}
	if closedUntil != 0 {
		args = append(args, closedUntil)
	}
	err := e.updateEntity(ctx, businessType, workflows.UpdateDeletePolicy, args...)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == workflows.ErrorVersion {
		return errUncertain
	}
	return err
}

// openOf selects the open timers of a business type.
func openOf(businessType string) string {
	return fmt.Sprintf("WorkflowType = '%s' AND %s = '%s' AND ExecutionStatus = 'Running'",
		workflows.TypeTimer, workflows.AttrBusinessType.GetName(), businessType)
}

// countOpen counts the open timers of a business type, as far as Temporal's
// visibility has heard of them.
func (e *Engine) countOpen(ctx context.Context, businessType string) (int, error) {
	response, err := e.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: e.Namespace, Query: openOf(businessType),
	})
	return int(response.GetCount()), translate(err)
}

func (e *Engine) cancelAll(ctx context.Context, businessType, author string) error {
	_, err := e.Client.WorkflowService().StartBatchOperation(ctx, &workflowservice.StartBatchOperationRequest{
		Namespace: e.Namespace, JobId: uuid.NewString(), VisibilityQuery: openOf(businessType),
		Reason: "policy deleted by " + author,
		Operation: &workflowservice.StartBatchOperationRequest_CancellationOperation{
			CancellationOperation: &batchpb.BatchOperationCancellation{Identity: author},
		},
	})
	return translate(err)
}
