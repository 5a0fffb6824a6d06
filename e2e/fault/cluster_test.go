package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// A deployment of several machines: each of Temporal's services is a process, history twice,
// and there are two of each of Wakecall's services.
func newCluster(t *testing.T, of form) (*production, *process.Cluster) {
	env := process.NewProduction(t, process.Direct)
	cluster := env.Spread()
	p := &production{bench: newBench(t, env.API), form: of, deployment: env}
	p.prefix = of.label
	for _, service := range of.services() {
		p.living[service] = env.Revive(service) // a cluster needs a moment until it answers
	}
	p.double()
	p.policy(p.witness.URL)
	return p, cluster
}

func TestClusterUndisturbed(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p, _ := newCluster(t, of)
		_, summary := p.run(trial{fault: "nothing broken, cluster", plan: busy(750), strike: func(*load.Load) {}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}

func TestClusterHerd(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p, _ := newCluster(t, of)
		plan := load.Plan{Timers: 2000, Over: 40 * time.Second, Lead: 40 * time.Second, Herd: true}
		_, summary := p.run(trial{fault: "herd, cluster", plan: plan, limits: herdLimits, strike: func(*load.Load) {}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}

// The shards of a dead history move to the other one. After each death, one of its kind or
// none is left, and it comes back.
func TestClusterMemberKilled(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for _, victim := range []string{"frontend", "history", process.SecondHistory, "matching", "worker"} {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				p, cluster := newCluster(t, of)
				p.run(trial{fault: "kill -9 of Temporal's " + victim + ", cluster", plan: busy(400), strike: func(*load.Load) {
					for range 2 {
						p.awaitHeld()
						f := p.breaks(true)
						cluster.Members[victim].Kill()
						p.heals(f)
						cluster.Revive(victim)
						p.pause(10 * time.Second)
					}
				}})
			})
		}
	})
}
