package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// A deploy starts the new program before it stops the old one, and waits for
// it to finish what it began.
func (p *production) rollingRestart() {
	_, summary := p.run(trial{fault: "SIGTERM of the worker and the API, rolling", plan: busy(scaled(1000, 150)), strike: func(*load.Load) {
		for range scaled(10, 3) {
			p.awaitHeld()
			old := p.living["worker"]
			p.living["worker"] = p.deployment.Beside("worker")
			require.Zero(p.t, old.Stop())
			p.restart("api")
			p.pause(time.Second)
		}
	}})
	require.Zero(p.t, summary.Duplicates, "nothing crashed")
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
