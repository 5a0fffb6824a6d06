package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/internal/tuning"
)

// takenOver is how late a timer of a dead worker may ring after its due time, or after the
// worker died or the only one came back, whichever is later.
const takenOver = failover.TakenOver

// held is a load that is in the hands of its nodes for most of a minute.
func held(timers int) load.Plan {
	return load.Plan{Timers: timers, Over: time.Duration(timers) * 40 * time.Millisecond, Lead: 5 * time.Second, Spread: 45 * time.Second}
}

// One of two nodes dies with what it holds, and does not come back, even if Temporal loses the
// timeouts by which it would hand it to the other one. Or it stands still, or is cut off from
// Temporal, and comes back when the other one has made its calls.
func TestTheOtherNodeTakesOver(t *testing.T) {
	longOnly(t)
	for name, c := range map[string]struct {
		fault string
		// strike returns what ends the fault after a while, or nil.
		strike func(*production, *network) (heal func())
		// ringsOn is how long the node may ring what it asked for before.
		ringsOn time.Duration
	}{
		"killed": {"kill -9 of one of two that hold timers", func(p *production, _ *network) func() {
			p.living[p.worker].Kill()
			return nil
		}, 0},
		"killed, and the timeouts lost": {
			"kill -9 of one of two that hold timers, and Temporal loses the timeouts of their tasks",
			func(p *production, _ *network) func() {
				p.living[p.worker].Kill()
				p.deployment.Postgres.Exec("temporal", "DELETE FROM timer_tasks")
				return nil
			}, 0,
		},
		"frozen": {"one of two that hold timers frozen for 30 s", func(p *production, _ *network) func() {
			p.freeze(p.worker)
			return func() { p.thaw(p.worker) }
		}, 0},
		"cut off": {"network between Temporal and one of two that hold timers cut for 30 s, silent", func(p *production, n *network) func() {
			return cuts["silent"](p.t, n.links["worker and temporal"])
		}, tuning.SignTrusted},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			p := newProduction(t, node, n.ofWorker)
			p.double()
			p.gateways = append([]string{p.api.URL}, p.gateways...)
			p.api.URL = p.gateways[len(p.gateways)-1] // that of the one that lives
			plan, limits := held(400), within(takenOver, takenOver-c.ringsOn)
			_, summary := p.run(trial{fault: c.fault, plan: plan, limits: limits, strike: func(l *load.Load) {
				p.awaitBooked(l, plan.Timers)
				require.Greater(t, p.held(), plan.Timers/10, "it holds timers")
				f := p.breaks(true)
				heal := c.strike(p, n)
				p.pause(c.ringsOn)
				p.heals(f)
				if heal != nil {
					p.pause(30 * time.Second)
					heal()
				}
			}})
			require.True(t, summary.Duplicates == 0 || c.ringsOn > 0, "nothing was in flight")
		})
	}
}

// The only node dies with what it holds, and is started again.
func TestTheOnlyNodeComesBack(t *testing.T) {
	longOnly(t)
	p := newProduction(t, node, process.Direct)
	plan := held(400)
	_, summary := p.run(trial{
		fault: "kill -9 of the only one, which holds timers", plan: plan, limits: within(takenOver, takenOver),
		strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers)
			require.Greater(t, p.held(), plan.Timers/10, "it holds timers")
			p.crash(p.worker)
		},
	})
	require.Zero(t, summary.Duplicates, "nothing was in flight")
}

// A node dies with a herd in its hands, and another one has to do all the work.
func TestTheOtherNodeTakesAHerdOver(t *testing.T) {
	longOnly(t)
	p := newProduction(t, node, process.Direct)
	plan := load.Plan{Timers: 1000, Over: 20 * time.Second, Lead: 30 * time.Second, Herd: true}
	_, summary := p.run(trial{
		fault: "kill -9 of one of two that holds 1,000 timers", plan: plan, limits: within(takenOver, herdTakenOver),
		strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers)
			p.beside(p.worker)
			require.Zero(t, p.witness.Count(), "nothing has rung")
			p.api.URL = p.gateways[0]
			f := p.breaks(true)
			p.living[p.worker].Kill()
			p.heals(f)
		},
	})
	require.Zero(t, summary.Duplicates, "nothing was in flight")
}

// herdTakenOver is as long as two cores take to hand out a thousand timers once more.
const herdTakenOver = takenOver + 15*time.Second
