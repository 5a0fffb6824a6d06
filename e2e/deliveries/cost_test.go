package deliveries

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// The design's own numbers, from Temporal's counters: what one timer costs.
func TestCostOfATimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	t.Run("delivered", func(t *testing.T) {
		env.Add(sample.Booking(kind, "1", "3s", r.URL))
		env.Await(kind+"/1", "delivered")
		transitions, events := cost(t, env, kind+"/1")
		require.Equal(t, int64(4), transitions)
		require.Equal(t, int64(6), events)
	})
	t.Run("a retry costs no event", func(t *testing.T) {
		history := map[string]int64{}
		for id, failures := range map[string]int{"once": 1, "thrice": 3} {
			body := sample.Booking(kind, id, "0s", r.On("/"+id, receiver.FailFirst(failures)))
			body["retry"] = testenv.JSON{"steps": []string{"10ms", "10ms", "10ms"}}
			env.Add(body)
			env.Await(kind+"/"+id, "delivered")
			_, history[id] = cost(t, env, kind+"/"+id)
		}
		require.Equal(t, history["once"], history["thrice"])
	})
}

func cost(t *testing.T, env *testenv.Env, path string) (transitions, events int64) {
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	info := described.GetWorkflowExecutionInfo()
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, info.GetStatus())
	return info.GetStateTransitionCount(), info.GetHistoryLength()
}
