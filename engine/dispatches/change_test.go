package dispatches

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Temporal would end a dispatch whose history grows too long, and its items would be lost:
// it is changed no more before that, and can be cancelled all the same.
func TestADispatchIsChangedWhileItsHistoryHasRoom(t *testing.T) {
	t.Parallel()
	key := wire.Key{BusinessType: "order", BusinessID: "reminders"}
	for _, events := range []int64{tuning.ChangeableHistory - 1, tuning.ChangeableHistory} {
		memo, err := kernel.Payloads.ToPayload(dispatch.Memo{Order: dispatch.Dispatch{Key: key}, Status: dispatch.Scheduled})
		require.NoError(t, err)
		on := &enginetest.Temporal{}
		on.Put(t, &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Execution: &commonpb.WorkflowExecution{WorkflowId: workflows.DispatchWorkflowID(key), RunId: "run"},
				Type:      &commonpb.WorkflowType{Name: workflows.TypeDispatch}, Status: visibility.Running, HistoryLength: events,
				Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoDispatch: memo}},
			},
		})
		dispatches, rate := dispatchesOn(on), 5.0
		_, _, changed := dispatches.Change(t.Context(), key, dispatch.Change{PerSecond: &rate}, 0)
		_, _, paused := dispatches.Pause(t.Context(), key, 0)
		if events < tuning.ChangeableHistory {
			require.NoError(t, changed)
			require.NoError(t, paused)
			require.Equal(t, []string{workflows.SignalChange, workflows.SignalChange}, on.Signals(workflows.DispatchWorkflowID(key)))
			continue
		}
		require.Equal(t, wire.ChangedTooOften, wire.CodeOf(changed))
		require.Equal(t, wire.ChangedTooOften, wire.CodeOf(paused))
		require.Empty(t, on.Signals(workflows.DispatchWorkflowID(key)))
		_, _, err = dispatches.Cancel(t.Context(), key, 0)
		require.NoError(t, err)
		require.Len(t, on.Calls("CancelWorkflow"), 1)
	}
}

func dispatchesOn(client client.Client) *Dispatches {
	k := kernel.New(client, "default", "")
	policies := policies.New(k, policies.Config{})
	return New(k, policies, waits.New(policies, emergencies.New(k, 0), queues.New(k, policies), nil), delivery.Reach{})
}

// startShard starts the workflow of a shard.
func startShard(t *testing.T, on *enginetest.Temporal, id string) {
	t.Helper()
	_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id}, workflows.TypeDispatchShard)
	require.NoError(t, err)
}
