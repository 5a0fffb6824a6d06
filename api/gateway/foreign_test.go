package gateway_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/api/gateway"
)

// In a shared namespace a foreign workflow can have a timer's id.
func TestIDOfAForeignWorkflow(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	foreign, err := env.Temporal.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: kind + "/1", TaskQueue: "nobody"}, "Foreign")
	require.NoError(t, err)
	booked := gateway.Booking(kind, "1", "1h")
	replaced := gateway.JSON{"delay": "1h", "callback": gateway.JSON{"url": gateway.Receiver}}
	path := "/v1/timers/" + kind + "/1"
	for _, reply := range []gateway.Reply{env.Do("POST", "/v1/timers", booked), env.Do("PUT", path, replaced)} {
		require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
		require.Equal(t, "urn:wakecall:problem:id-taken", reply.Problem().Type)
		require.Nil(t, reply.Problem().Timer)
	}
	for method, body := range map[string]any{"GET": nil, "PATCH": gateway.JSON{"delay": "2h"}, "DELETE": nil} {
		require.Equal(t, http.StatusNotFound, env.Do(method, path, body).Status, method)
	}
	described, err := env.Temporal.DescribeWorkflowExecution(t.Context(), kind+"/1", "")
	require.NoError(t, err)
	require.Equal(t, foreign.GetRunID(), described.GetWorkflowExecutionInfo().GetExecution().GetRunId(), "it still has the id")

	require.NoError(t, env.Temporal.TerminateWorkflow(t.Context(), kind+"/1", "", "done"))
	env.Add(booked)
}
