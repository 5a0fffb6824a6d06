package policies

import (
	"context"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
)

// List lists every policy, secrets sealed, by way of Temporal's visibility.
func (p *Policies) List(ctx context.Context) ([]policy.Policy, error) {
	inForce, _, err := p.Listed(ctx)
	return inForce, err
}

// Listed lists one policy for each business type: those in force as they stand, and those
// that were deleted as they last stood. Entities that were killed are restarted.
func (p *Policies) Listed(ctx context.Context) (inForce, gone []policy.Policy, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	infos, err := p.latestEntities(ctx)
	if err != nil {
		return nil, nil, err
	}
	inForce = []policy.Policy{}
	for _, info := range infos {
		record, err := recordOf(info)
		if err != nil {
			return nil, nil, err
		}
		if killed(info) {
			p.restart(ctx, record)
		}
		if deleted(info) {
			gone = append(gone, record.Policy)
		} else {
			inForce = append(inForce, record.Policy)
		}
	}
	return inForce, gone, nil
}

// latestEntities are the entities of all policies, of each business type the
// running one or else that which closed last: visibility lists them so.
func (p *Policies) latestEntities(ctx context.Context) (latest []*workflowpb.WorkflowExecutionInfo, err error) {
	seen := map[string]bool{}
	err = p.kernel.EachPage(ctx, visibility.Policies(), func(page []*workflowpb.WorkflowExecutionInfo) error {
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
