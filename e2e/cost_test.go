package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// The design's own numbers, from Temporal's counters: what one timer costs.
func TestCostOfATimer(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	t.Run("delivered", func(t *testing.T) {
		h.Add(booking(kind, "1", "3s", r.URL))
		h.Await(kind+"/1", "delivered")
		transitions, events := cost(t, h, kind+"/1")
		require.Equal(t, int64(4), transitions)
		require.Equal(t, int64(6), events)
	})
	t.Run("a retry costs no event", func(t *testing.T) {
		history := map[string]int64{}
		for id, failures := range map[string]int{"once": 1, "thrice": 3} {
			body := booking(kind, id, "0s", r.On("/"+id, receiver.FailFirst(failures)))
			body["retry"] = house.JSON{"steps": []string{"10ms", "10ms", "10ms"}}
			h.Add(body)
			h.Await(kind+"/"+id, "delivered")
			_, history[id] = cost(t, h, kind+"/"+id)
		}
		require.Equal(t, history["once"], history["thrice"])
	})
}

func cost(t *testing.T, h *house.House, path string) (transitions, events int64) {
	described, err := h.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	info := described.GetWorkflowExecutionInfo()
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, info.GetStatus())
	return info.GetStateTransitionCount(), info.GetHistoryLength()
}
