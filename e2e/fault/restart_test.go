package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// An upgrade as docs/upgrade.md describes it, with two of each service: all workers, one
// after the other, before the first gateway. Each finishes its work. The program is the same
// before and after; the frozen histories cover what older ones have stored. No fault is
// recorded, so the limits without a fault apply throughout.
func (p *production) rollingRestart() {
	p.double()
	_, summary := p.run(trial{fault: "SIGTERM of all, rolling", plan: busy(scaled(1000, 400)), strike: func(*load.Load) {
		for range scaled(5, 1) {
			for _, service := range p.services() {
				for _, name := range []string{service, other(service)} {
					p.awaitHeld()
					require.Zero(p.t, p.living[name].Stop(), name)
					p.living[name] = p.living[name].Again()
				}
			}
		}
	}})
	require.Zero(p.t, summary.Duplicates, "nothing crashed")
	for _, service := range p.services() { // the next scenario has one of each
		require.Zero(p.t, p.living[other(service)].Stop())
		delete(p.living, other(service))
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

// A worker that stops without a successor still finishes its work.
func TestWorkerRestarted(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		_, summary := p.run(trial{fault: "SIGTERM of the only " + p.worker, plan: busy(750), strike: func(*load.Load) {
			for range 10 {
				p.awaitHeld()
				p.restart(p.worker)
				p.pause(time.Second)
			}
		}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}

func TestTemporalRestarted(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		_, summary := p.run(trial{fault: "SIGTERM of Temporal", plan: busy(750), strike: func(*load.Load) {
			for range 3 {
				p.awaitHeld()
				p.restart("temporal")
				p.pause(2 * time.Second)
			}
		}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}
