package engine

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// What is kept is the input of a workflow that nobody runs. It is never due before its time
// is up, so that it costs Temporal one write to store, and one to end.

// kept is what is kept for a while.
type kept struct {
	id, workflowType string
	life             time.Duration
	// memo may be nil.
	memo map[string]any
}

// errNoPage is told of a page that is not there.
var errNoPage = &wire.Error{Code: wire.NotFound, Message: "There is no such page."}

// keep stores what is to be kept, in place of what has its id.
func (k *kernel) keep(ctx context.Context, what kept, input any) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := k.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: what.id, TaskQueue: workflows.NobodysQueue, StartDelay: 2 * what.life, WorkflowExecutionTimeout: what.life,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     what.memo,
	}, what.workflowType, input)
	return translate(err)
}

// kept reads what is kept. Its errors are [wire.NotFound] and [wire.Unavailable].
func (k *kernel) kept(ctx context.Context, id string) (*commonpb.Payload, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := k.client.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: k.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id}, MaximumPageSize: 1,
	})
	if err != nil {
		if wire.CodeOf(translate(err)) == wire.NotFound {
			return nil, errNoPage
		}
		return nil, translate(err)
	}
	for _, event := range response.GetHistory().GetEvents() {
		for _, input := range event.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
			return input, nil
		}
	}
	return nil, errNoPage
}

// endKept ends what is kept, which can then be read for as long as Temporal retains it.
func (k *kernel) endKept(ctx context.Context, id, reason string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return translate(k.client.TerminateWorkflow(ctx, id, "", reason))
}
