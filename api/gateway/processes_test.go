package gateway_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/enginetest"
)

// The gateway that answers is among the processes. Without signs of life the answer says so.
func TestProcesses(t *testing.T) {
	t.Parallel()
	temporal := &enginetest.Temporal{}
	env := gateway.Beside(t, temporal)
	var answer health.Processes
	env.Do("GET", "/v1/processes", nil).Into(&answer)
	require.Len(t, answer.Processes, 1)
	require.Equal(t, answer.Gateway, answer.Processes[0].ID)
	require.Equal(t, health.Alive, answer.Processes[0].State)
	require.Contains(t, answer.Note, "frontend.WorkerHeartbeatsEnabled")
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/processes?a=b", nil).Status)
	temporal.Err = http.ErrServerClosed
	require.Equal(t, http.StatusServiceUnavailable, env.Do("GET", "/v1/processes", nil).Status)
}
