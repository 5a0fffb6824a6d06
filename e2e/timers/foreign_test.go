package timers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A namespace may be shared: somebody else's workflow can have the id that a
// timer would have.
func TestIDOfAForeignWorkflow(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	foreign, err := env.Client.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: kind + "/1", TaskQueue: "nobody"}, "Foreign")
	require.NoError(t, err)
	booked := sample.Booking(kind, "1", "1h", r.URL)
	replaced := testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL}}
	path := "/v1/timers/" + kind + "/1"
	for _, reply := range []testenv.Reply{env.Do("POST", "/v1/timers", booked), env.Do("PUT", path, replaced)} {
		require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
		require.Equal(t, "urn:wakecall:problem:id-taken", reply.Problem().Type)
		require.Nil(t, reply.Problem().Timer)
	}
	for method, body := range map[string]any{"GET": nil, "PATCH": testenv.JSON{"delay": "2h"}, "DELETE": nil} {
		require.Equal(t, http.StatusNotFound, env.Do(method, path, body).Status, method)
	}
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), kind+"/1", "")
	require.NoError(t, err)
	require.Equal(t, foreign.GetRunID(), described.GetWorkflowExecutionInfo().GetExecution().GetRunId(), "it still has the id")

	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), kind+"/1", "", "done"))
	env.Add(booked)
}
