package kernel

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// A blob is the input of a workflow that never runs. It is never due before its time is up,
// so that it costs Temporal one write to store, and one to end.

// Blob is data that is kept for a while.
type Blob struct {
	ID, WorkflowType string
	Life             time.Duration
	// Memo may be nil.
	Memo map[string]any
	// New reports whether the blob must not replace one with the same id.
	New bool
}

// errNoPage is the error for a missing page.
var errNoPage = &wire.Error{Code: wire.NotFound, Message: "There is no such page."}

// errPageExists is the error for a new page that is there already.
var errPageExists = &wire.Error{Code: wire.AlreadyExists, Message: "There is such a page already."}

// StoreBlob stores a blob. Unless it is new, it replaces one with the same id; if it is, the error may
// be [wire.AlreadyExists].
func (k *Kernel) StoreBlob(ctx context.Context, what Blob, input any) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	conflict := enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	if what.New {
		conflict = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
	}
	_, err := k.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: what.ID, TaskQueue: workflows.UnpolledQueue, StartDelay: 2 * what.Life, WorkflowExecutionTimeout: what.Life,
		WorkflowIDConflictPolicy: conflict, WorkflowExecutionErrorWhenAlreadyStarted: what.New,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                  what.Memo,
	}, what.WorkflowType, input)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return errPageExists
	}
	return Translate(err)
}

// ReadBlob reads a blob. The errors are [wire.NotFound] and [wire.Unavailable].
func (k *Kernel) ReadBlob(ctx context.Context, id string) (*commonpb.Payload, error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	response, err := k.Client.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: k.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id}, MaximumPageSize: 1,
	})
	if err != nil {
		if wire.CodeOf(Translate(err)) == wire.NotFound {
			return nil, errNoPage
		}
		return nil, Translate(err)
	}
	for _, event := range response.GetHistory().GetEvents() {
		for _, input := range event.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
			return input, nil
		}
	}
	return nil, errNoPage
}

// EndBlob ends a blob. It can then be read for as long as Temporal retains it.
func (k *Kernel) EndBlob(ctx context.Context, id, reason string) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	return Translate(k.Client.TerminateWorkflow(ctx, id, "", reason))
}
