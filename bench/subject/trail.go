package subject

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// running is the query for what has not ended.
const running = `ExecutionStatus = "Running"`

// trail describes a workflow.
func trail(ctx context.Context, temporal client.Client, id string) (Trail, error) {
	described, err := temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return Trail{}, err
	}
	info := described.GetWorkflowExecutionInfo()
	return Trail{Transitions: info.GetStateTransitionCount(), Events: info.GetHistoryLength()}, nil
}

// open counts the workflows that have not ended.
func open(ctx context.Context, temporal client.Client) (int64, error) {
	counted, err := temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: client.DefaultNamespace, Query: running,
	})
	return counted.GetCount(), err
}
