package systems

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// running is the query for open executions.
const running = `ExecutionStatus = "Running"`

// trail describes the last run of a workflow.
func trail(ctx context.Context, temporal client.Client, id string) (Trail, error) {
	return trailOf(ctx, temporal, &commonpb.WorkflowExecution{WorkflowId: id})
}

func trailOf(ctx context.Context, temporal client.Client, run *commonpb.WorkflowExecution) (Trail, error) {
	described, err := temporal.DescribeWorkflowExecution(ctx, run.GetWorkflowId(), run.GetRunId())
	if err != nil {
		return Trail{}, err
	}
	info := described.GetWorkflowExecutionInfo()
	return Trail{Transitions: info.GetStateTransitionCount(), Events: info.GetHistoryLength()}, nil
}

// open counts the open workflows.
func open(ctx context.Context, temporal client.Client) (int64, error) {
	counted, err := temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: client.DefaultNamespace, Query: running,
	})
	return counted.GetCount(), err
}

// trails describes every run that a query finds.
func trails(ctx context.Context, temporal client.Client, query string) (trails []Trail, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: client.DefaultNamespace, Query: query}
	for {
		page, err := temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, run := range page.GetExecutions() {
			one, err := trailOf(ctx, temporal, run.GetExecution())
			if err != nil {
				return nil, err
			}
			trails = append(trails, one)
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return trails, nil
		}
	}
}

func sum(trails []Trail) (all Trail) {
	for _, one := range trails {
		all.Transitions, all.Events = all.Transitions+one.Transitions, all.Events+one.Events
	}
	return all
}
