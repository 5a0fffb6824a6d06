package queues

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func TestTheListMendsTheRegistry(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	var changes []workflows.Registration
	on.OnEvent = func(_ string, event *historypb.HistoryEvent) {
		var change workflows.Registration
		require.NoError(t, enginetest.Payloads.FromPayloads(event.GetWorkflowExecutionSignaledEventAttributes().GetInput(), &change))
		changes = append(changes, change)
	}
	known := func(known workflows.Registered) {
		changes = nil
		enginetest.Worker{On: on}.Say(t, workflows.RegistryID, workflows.MemoRegistry, known)
	}
	_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.RegistryID}, workflows.TypeRegistry)
	require.NoError(t, err)
	on.Policy(t, policy.Policy{BusinessType: "unlisted"})
	old, young := time.Now().Add(-2*tuning.RegistrationRest).Unix(), time.Now().Unix()
	listed := []policy.Policy{{BusinessType: "listed"}, {BusinessType: "missing"}}
	queues := queuesOn(on)

	known(workflows.Registered{"listed": old, "forgotten": old, "coming": young, "unlisted": old})
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Equal(t, []workflows.Registration{{
		Add: []string{"missing"}, Remove: []workflows.Registrant{{BusinessType: "forgotten", At: old}},
	}}, changes, "what is on its way, or is only missing in the list, stays")

	known(workflows.Registered{"listed": old, "missing": old})
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Empty(t, changes, "there is nothing to mend")

	require.NoError(t, on.TerminateWorkflow(t.Context(), workflows.RegistryID, "", "by hand"))
	known(nil)
	require.NoError(t, queues.RepairRegistry(t.Context(), listed))
	require.Equal(t, []workflows.Registration{{Add: []string{"listed", "missing"}}}, changes)
}
