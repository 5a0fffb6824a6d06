package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// newBuilds is a node with a worker and a gateway of an earlier version. The environment names
// that version: there is none before 1.0.0. Both workers ring the bookings of both gateways.
func newBuilds(t *testing.T) *production {
	t.Helper()
	longOnly(t)
	earlier := process.EarlierBinary(t)
	t.Parallel()
	p := newProduction(t, node, process.Direct)
	p.prefix = "builds: "
	for _, service := range []string{roles.worker, roles.gateway} {
		p.living[service] = p.deployment.BesideOf(earlier, service)
	}
	p.gateways = []string{p.living[roles.gateway].URL()}
	return p
}

// An update is under way: the node stops, and the older worker rings the timers that the
// node got with their booking. The older worker stops, and the node rings the older
// gateway's bookings.
func TestBuildsRestarted(t *testing.T) {
	p := newBuilds(t)
	_, summary := p.run(trial{fault: "SIGTERM of the new node, of the old worker, of the old gateway", plan: busy(1000), strike: func(*load.Load) {
		for range 2 {
			for _, service := range []string{node.worker, roles.worker, roles.gateway} {
				p.awaitHeld()
				p.leaves(service)
				p.pause(4 * time.Second) // the other build is alone
				p.living[service] = p.living[service].Again()
			}
		}
	}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}

// One build dies with timers in its hands, and the other one rings them.
func TestBuildsKilled(t *testing.T) {
	p := newBuilds(t)
	p.run(trial{fault: "kill -9 of the new node, of the old worker", plan: busy(1000), strike: func(*load.Load) {
		for range 2 {
			for _, service := range []string{node.worker, roles.worker} {
				p.awaitHeld()
				f := p.breaks(true)
				p.living[service].Kill()
				p.heals(f)
				p.pause(10 * time.Second) // the other build is alone
				p.living[service] = p.living[service].Again()
				p.pause(2 * time.Second)
			}
		}
	}})
}

// An update and a rollback, each with timers booked before: all of one build stop before the
// other one's start.
func TestBuildsExchanged(t *testing.T) {
	p := newBuilds(t)
	_, summary := p.run(trial{fault: "the old build goes, the new one goes, the old one is back", plan: busy(1000), strike: func(*load.Load) {
		old, latest := roles.services(), node.services()
		for _, step := range []struct{ leave, come []string }{{latest, nil}, {old, latest}, {latest, old}, {nil, latest}} {
			p.awaitHeld()
			p.exchange(step.leave, step.come)
			p.pause(5 * time.Second)
		}
	}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}

// exchange stops services, and starts others again when they have ended.
func (p *production) exchange(leave, come []string) {
	p.t.Helper()
	f := p.breaks(false)
	for _, service := range leave {
		p.leaves(service)
	}
	p.heals(f)
	for _, service := range come {
		p.living[service] = p.living[service].Again()
	}
}

// leaves stops a service.
func (p *production) leaves(service string) {
	p.t.Helper()
	require.Zero(p.t, p.living[service].Stop(), service)
}
