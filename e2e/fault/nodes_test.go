package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// newNodes runs two nodes, each gateway and worker: what is booked here is handed to a
// worker as it is booked.
func newNodes(t *testing.T) *production {
	p := newProductionOf(t, process.Direct, "wakecall")
	other := p.deployment.Beside("wakecall")
	p.gateways, p.living["other node"] = []string{other.URL()}, other
	return p
}

// What a node is given as it is booked rings when its task times out.
func TestNodeKilled(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newNodes(t)
	p.run(trial{fault: "nodes, kill -9 of one of two", plan: busy(750), strike: func(*load.Load) {
		for range 5 {
			p.pause(p.between(time.Second, 3*time.Second))
			p.awaitHeld()
			p.crash("wakecall")
		}
	}})
}

// A node that stops hands what it was given as it was booked to the other one.
func TestNodesRestarted(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newNodes(t)
	_, summary := p.run(trial{fault: "nodes, SIGTERM of both, rolling", plan: busy(750), strike: func(*load.Load) {
		for range 5 {
			for _, name := range []string{"wakecall", "other node"} {
				p.awaitHeld()
				require.Zero(t, p.living[name].Stop(), name)
				p.living[name] = p.living[name].Again()
			}
		}
	}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}
