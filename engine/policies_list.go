package engine

import (
	"context"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/timer"
)

// List lists every policy, secrets sealed, by way of Temporal's visibility.
func (p *Policies) List(ctx context.Context) ([]timer.Policy, error) {
	return p.listed(ctx, false)
}

// listed lists one policy for each business type, as it stands or last
// stood. Entities that were killed are restarted.
func (p *Policies) listed(ctx context.Context, alsoDeleted bool) ([]timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	infos, err := p.latestEntities(ctx)
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
			p.restart(ctx, record)
		}
		if alsoDeleted || !deleted(info) {
			policies = append(policies, record.Policy)
		}
	}
	return policies, nil
}

// latestEntities are the entities of all policies, of each business type the
// running one or else that which closed last: visibility lists them so.
func (p *Policies) latestEntities(ctx context.Context) (latest []*workflowpb.WorkflowExecutionInfo, err error) {
	seen := map[string]bool{}
	err = p.eachPage(ctx, entities(), func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			if id := info.GetExecution().GetWorkflowId(); !seen[id] {
				seen[id] = true
				latest = append(latest, info)
			}
		}
		return nil
	})
	return latest, err
}
