package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	batchpb "go.temporal.io/api/batch/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

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
	// receiver when they are due, and fail unless there is a policy again before
	// the default ladder ends.
	RemainingKeep Remaining = "keep"
)

// Remainings lists what can happen.
func Remainings() []Remaining { return []Remaining{RemainingNone, RemainingCancel, RemainingKeep} }

// DeletePolicy deletes a policy, and with it its limits. It needs a worker. Its
// errors are [timer.NotFound], [timer.PolicyInUse] while there are open timers
// and nothing is said of them, and [timer.Unavailable].
func (e *Engine) DeletePolicy(ctx context.Context, businessType, author string, remaining Remaining) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if _, err := e.readPolicy(ctx, businessType); err != nil {
		return err
	}
	open, err := e.countOpen(ctx, businessType)
	if err != nil {
		return err
	}
	switch {
	case open > 0 && remaining == RemainingNone:
		return &timer.Error{Code: timer.PolicyInUse, Message: "The business type has " + strconv.Itoa(open) +
			" open timers. Say timers=cancel or timers=keep."}
	case open > 0 && remaining == RemainingCancel:
		if err := e.cancelAll(ctx, businessType, author); err != nil {
			return err
		}
	}
	return e.dropPolicy(ctx, businessType, author)
}

func (e *Engine) dropPolicy(ctx context.Context, businessType, author string) error {
	defer e.policies.forget(businessType)
	handle, err := e.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.PolicyID(businessType), UpdateName: workflows.UpdateDeletePolicy,
		Args: []any{author}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if is[*serviceerror.NotFound](err) {
		return noPolicy
	}
	return translate(err)
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
