package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/workflows"
)

// Each activity belongs to one queue, and one queue has workflow tasks. The maker of attempts
// starts after the part that answers queries about them.
func TestTheTableOfQueues(t *testing.T) {
	t.Parallel()
	var names []string
	registered := map[string]string{}
	for _, queue := range queuesOf(Options{Identity: "w"}) {
		names = append(names, queue.name)
		require.Equal(t, queue.name != workflows.TaskQueue, queue.slots.DisableWorkflowWorker, queue.name)
		for name, function := range queue.activities {
			require.NotNil(t, function, name)
			require.Empty(t, registered[name], name)
			registered[name] = queue.name
		}
	}
	require.Equal(t, []string{
		workflows.ReceiptQueue("w"), workflows.ControlQueue, workflows.JobQueue, workflows.DispatchQueue, workflows.TaskQueue, workflows.DefaultDeliveryQueue,
	}, names)
	require.Len(t, registered, 14)
}
