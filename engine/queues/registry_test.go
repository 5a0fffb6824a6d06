package queues

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// registryOnly is a Temporal with a registry and some policies.
type registryOnly struct {
	client.Client
	known    workflows.Registered
	policies []string
	changes  []workflows.Registration
}

func (r *registryOnly) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	memo := map[string]*commonpb.Payload{}
	switch {
	case id == workflows.RegistryID && r.known != nil:
		memo[workflows.MemoRegistry], _ = kernel.Payloads.ToPayload(r.known)
	case slices.Contains(r.policies, id):
		memo[workflows.MemoPolicy], _ = kernel.Payloads.ToPayload(workflows.PolicyRecord{ChangedAt: wire.At(time.Now())})
	default:
		return nil, serviceerror.NewNotFound("none")
	}
	info := &workflowpb.WorkflowExecutionInfo{Memo: &commonpb.Memo{Fields: memo}}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

//nolint:revive // the client's own arguments
func (r *registryOnly) SignalWithStartWorkflow(_ context.Context, _, _ string, change any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	r.changes = append(r.changes, change.(workflows.Registration))
	return enginetest.StartedRun{}, nil
}

func TestTheListMendsTheRegistry(t *testing.T) {
	t.Parallel()
	old, young := time.Now().Add(-2*tuning.RegistrationRest).Unix(), time.Now().Unix()
	listed := []policy.Policy{{BusinessType: "listed"}, {BusinessType: "missing"}}
	r := &registryOnly{
		known:    workflows.Registered{"listed": old, "forgotten": old, "coming": young, "unlisted": old},
		policies: []string{workflows.PolicyID("unlisted")},
	}
	queues := queuesOn(r)
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Equal(t, []workflows.Registration{{
		Add: []string{"missing"}, Remove: []workflows.Registrant{{BusinessType: "forgotten", At: old}},
	}}, r.changes, "what is on its way, or is only missing in the list, stays")

	r.known, r.changes = workflows.Registered{"listed": old, "missing": old}, nil
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Empty(t, r.changes, "there is nothing to mend")

	r.known = nil // deleted
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Equal(t, []workflows.Registration{{Add: []string{"listed", "missing"}}}, r.changes)
}
