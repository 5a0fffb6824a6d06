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
	return e.listPolicies(ctx, false)
}

// Governed lists the policies whose queues may hold deliveries: every policy,
// and those deleted ones that Temporal still remembers. No retry waits longer
// than that.
func (e *Engine) Governed(ctx context.Context) ([]timer.Policy, error) {
	return e.listPolicies(ctx, true)
}

// listPolicies lists one policy for each business type, as it stands or last
// stood. Entities that were killed are revived.
func (e *Engine) listPolicies(ctx context.Context, alsoDeleted bool) ([]timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	infos, err := e.latestEntities(ctx)
	if err != nil {
		return nil, err
	}
	policies := []timer.Policy{}
	for _, info := range infos {
		record, err := recordOf(info)
		if err != nil {
			return nil, err
		}
		if killed(info) {
			e.revive(ctx, record)
		}
		if alsoDeleted || !deleted(info) {
			policies = append(policies, record.Policy)
		}
	}
	return policies, nil
}

// latestEntities are the entities of all policies, of each business type the
// running one or else that which closed last: visibility lists them so.
func (e *Engine) latestEntities(ctx context.Context) (latest []*workflowpb.WorkflowExecutionInfo, err error) {
	seen, token := map[string]bool{}, []byte(nil)
	for {
		response, err := e.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: e.Namespace, NextPageToken: token, PageSize: maxListed,
			Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew'", workflows.TypePolicy),
		})
		if err != nil {
			return nil, translate(err)
		}
		for _, info := range response.GetExecutions() {
			if id := info.GetExecution().GetWorkflowId(); !seen[id] {
				seen[id] = true
				latest = append(latest, info)
			}
		}
		if token = response.GetNextPageToken(); len(token) == 0 {
			return latest, nil
		}
	}
}

// maxListed is the largest page of Temporal's SQL visibility.
const maxListed = 1000

func running(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}
