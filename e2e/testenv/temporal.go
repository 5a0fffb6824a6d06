package testenv

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
)

// CLI runs the temporal CLI on the shared server.
func CLI(t testing.TB, args ...string) string {
	t.Helper()
	return process.Execute(t, process.Temporal(t), append(args, "--address", Addr)...)
}

// AwaitListed waits until the open workflows that match a query are the given ones.
func AwaitListed(t testing.TB, query string, ids ...string) {
	t.Helper()
	list := process.Prepare(t, process.Temporal(t), "workflow", "list", "-o", "json", "--address", Addr,
		"--query", query+" AND ExecutionStatus='Running'")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		printed, err := list(t.Context())
		require.NoError(c, err)
		var found []struct {
			Execution struct {
				WorkflowID string `json:"workflowId"`
			}
		}
		require.NoError(c, json.Unmarshal([]byte(printed), &found), "%s", printed)
		var listed []string
		for _, execution := range found {
			listed = append(listed, execution.Execution.WorkflowID)
		}
		require.ElementsMatch(c, ids, listed)
	}, Patience, time.Second/2, "visibility lags behind by a moment")
}

// WithWorker reports whether a worker has the task of a workflow, or is about to get it.
func (e *Env) WithWorker(id string) bool {
	e.t.Helper()
	described, err := e.Client.DescribeWorkflowExecution(e.t.Context(), id, "")
	require.NoError(e.t, err)
	return described.GetPendingWorkflowTask() != nil
}

// Events are the types of the events of a workflow's run; of its last run if that is "".
func (e *Env) Events(id, run string) (types []enumspb.EventType) {
	e.t.Helper()
	events := e.Client.GetWorkflowHistory(e.t.Context(), id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(e.t, err)
		types = append(types, event.GetEventType())
	}
	return types
}

// Stored is all that Temporal has of a workflow.
func (e *Env) Stored(id string) string {
	e.t.Helper()
	described, err := e.Client.DescribeWorkflowExecution(e.t.Context(), id, "")
	require.NoError(e.t, err)
	text := described.String()
	history := e.Client.GetWorkflowHistory(e.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(e.t, err)
		text += event.String()
	}
	return text
}

// CodeOf is the problem code of a refused call.
func CodeOf(t testing.TB, err error) wire.Code {
	t.Helper()
	var problem *wakecall.Problem
	require.ErrorAs(t, err, &problem)
	return problem.Code()
}
