package policies

import (
	"context"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Version is one entry of a policy's record of changes.
type Version struct {
	Version   int          `json:"version"`
	ChangedAt wire.Instant `json:"changed_at"`
	ChangedBy string       `json:"changed_by"`
	// Who describes the author of the change; nil if unknown.
	Who *wire.Actor `json:"who,omitempty"`
	// Deleted reports whether this change deleted the policy.
	Deleted bool `json:"deleted,omitzero"`
	// Changes are what it changed of the version before; nil if there was none, or if Temporal no longer has
	// it.
	Changes []policy.Difference `json:"changes,omitempty"`
	// Policy is the policy since then, its secrets sealed.
	Policy *policy.Policy `json:"policy,omitempty"`
}

// Changes reads the changes of policies.
type Changes struct {
	kernel  *kernel.Kernel
	secrets secrets
}

// Versions reads the changes of a policy, newest first, from the histories of its entity as
// far as Temporal retains them. The errors are [wire.NotFound] and [wire.Unavailable].
func (c *Changes) Versions(ctx context.Context, businessType string) ([]Version, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	id := workflows.PolicyID(businessType)
	response, err := c.kernel.List(ctx, query.WorkflowID.Is(id), tuning.MaxListed, nil)
	if err != nil {
		return nil, err
	}
	var versions []Version
	for _, info := range response.GetExecutions() {
		if versions, err = c.changesIn(ctx, id, info.GetExecution().GetRunId(), versions); err != nil {
			return nil, err
		}
	}
	if len(versions) == 0 {
		return nil, noPolicy
	}
	slices.SortStableFunc(versions, func(a, b Version) int { return int(b.ChangedAt - a.ChangedAt) })
	// A run begins with the last version of the previous run.
	versions = slices.CompactFunc(versions, func(a, b Version) bool {
		return a.Version == b.Version && a.Deleted == b.Deleted
	})
	c.compare(versions)
	return versions, nil
}

// compare adds to each version what it changed. It opens the secrets: the same secret looks different
// whenever it is sealed.
func (c *Changes) compare(versions []Version) {
	var after policy.Policy
	for i := range versions {
		before := policy.Policy{}
		if versions[i].Policy != nil {
			before = c.secrets.open(*versions[i].Policy)
		}
		if before.Version != 0 && after.Version != 0 {
			versions[i-1].Changes = policy.Differences(before, after)
		}
		after = before
	}
}

// changesIn adds the changes that one run of the entity took.
func (c *Changes) changesIn(ctx context.Context, id, runID string, versions []Version) ([]Version, error) {
	err := c.kernel.EachEvent(ctx, id, runID, func(event *historypb.HistoryEvent) {
		version, ok := changeIn(event)
		if !ok {
			return
		}
		if version.Deleted && len(versions) > 0 {
			version.Version = versions[len(versions)-1].Version
		}
		versions = append(versions, version)
	})
	return versions, err
}

// changeIn is the change that one event records, if it does.
func changeIn(event *historypb.HistoryEvent) (version Version, ok bool) {
	var record workflows.PolicyRecord
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		ok = kernel.Payloads.FromPayloads(event.GetWorkflowExecutionStartedEventAttributes().GetInput(), &record) == nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED:
		outcome := event.GetWorkflowExecutionUpdateCompletedEventAttributes().GetOutcome().GetSuccess()
		ok = len(outcome.GetPayloads()) > 0 && kernel.Payloads.FromPayloads(outcome, &record) == nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
		request := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest()
		input := request.GetInput()
		var author string
		if input.GetName() != workflows.UpdateDeletePolicy || kernel.Payloads.FromPayloads(input.GetArgs(), &author) != nil {
			return version, false
		}
		_, who := identity.Parse(request.GetMeta().GetIdentity())
		return Version{Deleted: true, ChangedBy: author, Who: who, ChangedAt: wire.At(event.GetEventTime().AsTime())}, true
	default:
		return version, false
	}
	if !ok || record.Policy.Version == 0 {
		return version, false
	}
	return Version{
		Version: record.Policy.Version, ChangedAt: record.ChangedAt, ChangedBy: record.ChangedBy, Who: record.Who, Policy: &record.Policy,
	}, true
}
