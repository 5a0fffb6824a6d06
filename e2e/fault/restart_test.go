package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// An upgrade as docs/upgrade.md describes it, with two of each role: all workers, one
// after the other, before the first gateway. Each finishes what it began. It is the same
// program before and after; what older ones have stored is held by the frozen histories.
// No fault is noted, so the limits of calm hold throughout.
func (p *production) rollingRestart() {
	gateway := p.deployment.Beside("api")
	p.gateways = []string{gateway.URL()}
	p.living["other worker"], p.living["other api"] = p.deployment.Beside("worker"), gateway
	_, summary := p.run(trial{fault: "SIGTERM of both workers, then of both gateways, rolling", plan: busy(scaled(1000, 150)), strike: func(*load.Load) {
		for range scaled(5, 1) {
			for _, name := range []string{"worker", "other worker", "api", "other api"} {
				p.awaitHeld()
				require.Zero(p.t, p.living[name].Stop(), name)
				p.living[name] = p.living[name].Again()
			}
		}
	}})
	require.Zero(p.t, summary.Duplicates, "nothing crashed")
	for _, name := range []string{"other worker", "other api"} { // the next scenario has one of each
		require.Zero(p.t, p.living[name].Stop())
		delete(p.living, name)
	}
}

// restart stops a service and starts it again.
func (p *production) restart(service string) {
	p.t.Helper()
	f := p.breaks(false)
	require.Zero(p.t, p.living[service].Stop())
	p.heals(f)
	p.revive(service)
}

// A worker that stops with nobody to take over still finishes what it began.
func TestWorkerRestarted(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newProduction(t, process.Direct)
	_, summary := p.run(trial{fault: "SIGTERM of the only worker", plan: busy(750), strike: func(*load.Load) {
		for range 10 {
			p.awaitHeld()
			p.restart("worker")
			p.pause(time.Second)
		}
	}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}

func TestTemporalRestarted(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newProduction(t, process.Direct)
	_, summary := p.run(trial{fault: "SIGTERM of Temporal", plan: busy(750), strike: func(*load.Load) {
		for range 3 {
			p.awaitHeld()
			p.restart("temporal")
			p.pause(2 * time.Second)
		}
	}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}
