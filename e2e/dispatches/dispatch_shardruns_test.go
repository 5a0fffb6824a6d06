package dispatches

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// lostShardRuns counts the attempts at shard runs of a dispatch that Temporal gave up, by the
// histories of its shards: of a worker that was silent for too long. What another worker
// takes over may be sent again; without any such attempt nothing is.
func lostShardRuns(t *testing.T, env *testenv.Env, key wire.Key) (lost int) {
	t.Helper()
	history := env.Client.GetWorkflowHistory(t.Context(), workflows.DispatchWorkflowID(key), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		if shard := event.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution(); shard != nil {
			lost += lostIn(t, env, shard.GetWorkflowId())
		}
	}
	return lost
}

// lostIn counts them in one shard, which has one run: it is a short dispatch.
func lostIn(t *testing.T, env *testenv.Env, shard string) (lost int) {
	t.Helper()
	history := env.Client.GetWorkflowHistory(t.Context(), shard, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		lost += max(int(event.GetActivityTaskStartedEventAttributes().GetAttempt())-1, 0)
	}
	return lost
}
