package programs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// installation is a node with its Temporal, and what it says of the processes beside it.
type installation struct {
	*process.Standalone
	*testing.T
}

// beside starts a process of a role beside the node.
func (i installation) beside(role, listens, ready string) *process.Process {
	addr := loopback.Addr()
	return process.Start(i.T, process.Command{
		Path: process.WakecallBinary(i.T), Args: []string{role}, Ready: "http://" + addr + ready,
		Env: map[string]string{listens: addr, "TEMPORAL_ADDRESS": i.Addr("WAKECALL_TEMPORAL_ADDR"), "WAKECALL_LOG_LEVEL": "error"},
	})
}

// lives are the processes by role, as far as they are in no other state.
func (i installation) lives() (byRole map[health.Role]health.Process, states map[health.Life]int) {
	i.Helper()
	all, err := i.Client().Server.Processes(i.Context())
	require.NoError(i.T, err)
	require.Empty(i.T, all.Note)
	byRole, states = map[health.Role]health.Process{}, map[health.Life]int{}
	for _, one := range all.Processes {
		byRole[one.Role] = one
		states[one.State]++
	}
	return byRole, states
}

// becomes waits until a process of a role is in a state; "" for gone.
func (i installation) becomes(role health.Role, state health.Life) (p health.Process) {
	i.Helper()
	require.Eventually(i.T, func() bool {
		byRole, _ := i.lives()
		p = byRole[role]
		return p.State == state
	}, process.Patience, process.Interval, "%s becomes %s", role, state)
	return p
}

// A node lists itself, and the worker and the gateway beside it, through all that becomes of them. No
// worker takes the gateway for one of them.
func TestProcessesOfAnInstallation(t *testing.T) {
	t.Parallel()
	env := process.NewStandalone(t)
	node := env.Start()
	i := installation{env, t}
	worker := i.beside("worker", "WAKECALL_METRICS_ADDR", "/livez")
	gateway := i.beside("api", "WAKECALL_HTTP_ADDR", "/readyz")
	i.becomes(health.Worker, health.Alive)
	i.becomes(health.Gateway, health.Alive)
	byRole, states := i.lives()
	require.Equal(t, map[health.Life]int{health.Alive: 3}, states)
	for role, one := range byRole {
		require.NotEmpty(t, one.Version, role)
		require.NotZero(t, one.StartedAt, role)
		require.NotNil(t, one.InFlight, role)
		require.Equal(t, role != health.Gateway, one.Preloaded != nil, role)
	}

	gateway.Freeze()
	i.becomes(health.Gateway, health.Silent)
	gateway.Thaw()
	seen := i.becomes(health.Gateway, health.Alive)
	require.Zero(t, gateway.Stop())
	i.becomes(health.Gateway, "")
	worker.Kill()
	dead := i.becomes(health.Worker, health.Silent)
	require.Contains(t, node.Stderr(), dead.ID, "the node has taken the worker for dead, which is the control")
	require.NotContains(t, node.Stderr(), seen.ID)
}
