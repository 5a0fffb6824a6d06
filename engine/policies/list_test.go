package policies

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// policiesOnly is a Temporal with a policy of each status.
type policiesOnly struct {
	client.Client
	statuses map[string]enumspb.WorkflowExecutionStatus
}

func (p policiesOnly) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	answer := &workflowservice.ListWorkflowExecutionsResponse{}
	for businessType, status := range p.statuses {
		memo, err := kernel.Payloads.ToPayload(workflows.PolicyRecord{Policy: policy.Policy{BusinessType: businessType}, ChangedAt: wire.At(time.Now())})
		if err != nil {
			return nil, err
		}
		answer.Executions = append(answer.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: workflows.PolicyID(businessType)}, Status: status,
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: memo}},
		})
	}
	return answer, nil
}

// The queue of a deleted policy may hold deliveries, but nothing else is to be said of it.
func TestDeletedPoliciesAreListedApart(t *testing.T) {
	t.Parallel()
	policies := New(kernel.New(policiesOnly{statuses: map[string]enumspb.WorkflowExecutionStatus{
		"order": enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, "invoice": enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED,
	}}, "default", ""), Config{})
	inForce, deleted, err := policies.Listed(t.Context())
	require.NoError(t, err)
	require.Equal(t, []policy.Policy{{BusinessType: "order"}}, inForce)
	require.Equal(t, []policy.Policy{{BusinessType: "invoice"}}, deleted)
	listed, err := policies.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, inForce, listed)
}
