package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// A frozen process keeps its connections and says nothing: who waits for it
// must not wait forever. The freeze outlasts the workflow task timeout, so that
// what the worker held is handed to another one.
func TestFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for _, victim := range of.all() {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				p := newProduction(t, of, process.Direct)
				limits, breaks := limits, func() *oracle.Fault { return p.breaks(true) }
				if victim == of.worker {
					p.beside(of.worker)
					limits, breaks = within(time.Minute, takenOver), p.stops
				}
				p.run(trial{fault: victim + " frozen for 20 s", plan: busy(750), limits: limits, strike: func(*load.Load) {
					for range 2 {
						p.awaitHeld()
						f := breaks()
						p.freeze(victim)
						p.pause(20 * time.Second)
						p.heals(f)
						p.thaw(victim)
						p.pause(afterwards)
					}
				}})
			})
		}
	})
}

// afterwards is as long as two cores need for what has waited for a process that stood still: all
// of it is called at once, and must be recorded before the next fault.
const afterwards = 15 * time.Second

// A moment without the database makes nothing late that a worker holds: the worker
// has the policy at hand, and Temporal knows the run without reading it.
func TestFrozenForAMoment(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		const freeze = 700 * time.Millisecond
		plan := idle(750)
		_, summary := p.run(trial{fault: "PostgreSQL frozen for 0.7 s, 8 times", plan: plan, strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers)
			require.Eventually(t, func() bool { return p.witness.Count() > 0 }, time.Minute, 10*time.Millisecond, "they ring")
			for range 8 {
				f := p.breaks(true)
				p.freeze("postgres")
				p.pause(freeze)
				p.heals(f)
				p.thaw("postgres")
				p.pause(3 * time.Second)
			}
		}})
		require.Less(t, summary.P99, freeze/2, "nothing waits for the end of the freeze")
	})
}

// Timers that a worker holds are moved while the database stands still: a question
// that nobody answers ends no timer.
func TestMovedWhilePostgresIsFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.policy(p.witness.URL, contract.JSON{"preload": preload.String()})
		plan := load.Plan{Timers: 500, Over: 20 * time.Second, Lead: 50 * time.Second, Spread: 5 * time.Second, Move: 1}
		p.run(trial{fault: "PostgreSQL frozen for 8 s while held timers are moved, 3 times", plan: plan, strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers*3/4)
			for range 3 {
				f := p.breaks(true)
				p.freeze("postgres")
				p.pause(8 * time.Second)
				p.heals(f)
				p.thaw("postgres")
				p.pause(4 * time.Second)
			}
		}})
	})
}

func (p *production) freeze(service string) {
	if service == "postgres" {
		p.deployment.Postgres.Freeze()
		return
	}
	p.living[service].Freeze()
}

func (p *production) thaw(service string) {
	if service == "postgres" {
		p.deployment.Postgres.Thaw()
		return
	}
	p.living[service].Thaw()
}
