package engine

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Policies lists every policy, secrets sealed, by way of Temporal's visibility.
func (e *Engine) Policies(ctx context.Context) ([]timer.Policy, error) {
	return e.listPolicies(ctx, "ExecutionStatus = 'Running'")
}

// Governed lists the policies whose queues may hold deliveries: every policy,
// and those deleted ones that Temporal still remembers. No retry waits longer
// than that.
func (e *Engine) Governed(ctx context.Context) ([]timer.Policy, error) {
	return e.listPolicies(ctx, "ExecutionStatus != 'ContinuedAsNew'")
}

// listPolicies lists one policy for each business type: the one in force, if
// there is one.
func (e *Engine) listPolicies(ctx context.Context, clause string) ([]timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	policies, index, token := []timer.Policy{}, map[string]int{}, []byte(nil)
	for {
		response, err := e.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: e.Namespace, NextPageToken: token, PageSize: maxListed,
			Query: fmt.Sprintf("WorkflowType = '%s' AND %s", workflows.TypePolicy, clause),
		})
		if err != nil {
			return nil, translate(err)
		}
		for _, info := range response.GetExecutions() {
			record, err := recordOf(info)
			if err != nil {
				return nil, err
			}
			if at, seen := index[record.Policy.BusinessType]; !seen {
				index[record.Policy.BusinessType] = len(policies)
				policies = append(policies, record.Policy)
			} else if running(info) {
				policies[at] = record.Policy
			}
		}
		if token = response.GetNextPageToken(); len(token) == 0 {
			return policies, nil
		}
	}
}

// maxListed is the largest page of Temporal's SQL visibility.
const maxListed = 1000

func running(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}
