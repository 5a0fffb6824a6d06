package systems

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/bench/stage"
)

// Temporal as it comes has all of its indexes, and four partitions of a queue. That a deployment of
// Wakecall has neither is tested in e2e, on the same programs.
func TestUntunedIsAsItComes(t *testing.T) {
	s := stage.New(t.Context())
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	e := &productionEngine{untuned: true}
	addr, err := e.start(s)
	require.NoError(t, err)

	connection, err := pgx.Connect(t.Context(), e.production.Postgres.URL("temporal_visibility"))
	require.NoError(t, err)
	var indexes int
	require.NoError(t, connection.QueryRow(t.Context(),
		"SELECT count(*) FROM pg_indexes WHERE tablename = 'executions_visibility'").Scan(&indexes))
	require.NoError(t, connection.Close(t.Context()))
	require.Greater(t, indexes, 50)

	temporal, err := dial(t.Context(), addr)
	require.NoError(t, err)
	partitions, err := temporal.WorkflowService().ListTaskQueuePartitions(t.Context(), &workflowservice.ListTaskQueuePartitionsRequest{
		Namespace: client.DefaultNamespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
	})
	temporal.Close()
	require.NoError(t, err)
	require.Greater(t, len(partitions.GetWorkflowTaskQueuePartitions()), 1)
}
