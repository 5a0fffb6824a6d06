package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// busy is a load with attempts in flight at every moment, since each receiver takes a second
// to answer. SQLite keeps up with it on a busy machine, each commit synced: this does not
// test speed.
func busy(timers int) load.Plan {
	return load.Plan{
		Timers: timers, Over: time.Duration(timers) * 80 * time.Millisecond, Lead: time.Second, Spread: 10 * time.Second,
		Hold: time.Second, Refuse: 0.1, Move: 0.05, Cancel: 0.05,
	}
}

// idle is a load that is booked at once and falls due later.
func idle(timers int) load.Plan {
	return load.Plan{Timers: timers, Over: time.Duration(timers) * 30 * time.Millisecond, Lead: 25 * time.Second, Spread: 10 * time.Second}
}

func (p *production) everythingKilled() {
	p.run(trial{fault: "kill -9 of everything, in mid-callback", plan: busy(scaled(1000, 120)), strike: func(*load.Load) {
		for range scaled(4, 1) {
			p.pause(p.between(time.Second, 3*time.Second))
			p.awaitHeld()
			p.crash(p.all()...)
		}
	}})
}

func (s *standalone) killed() {
	s.run(trial{fault: "kill -9 of the standalone form, in mid-callback", plan: busy(scaled(1000, 120)), strike: func(*load.Load) {
		for range scaled(10, 1) {
			s.pause(s.between(time.Second, 3*time.Second))
			s.awaitHeld()
			s.crash()
		}
	}})
}

func (p *production) workerKilled() { p.killed(p.worker) }

func (p *production) killed(victim string) {
	p.run(trial{fault: "kill -9 of " + victim + ", in mid-callback", plan: busy(scaled(750, 120)), strike: func(*load.Load) {
		for range scaled(5, 1) {
			p.pause(p.between(time.Second, 3*time.Second))
			p.awaitHeld()
			p.crash(victim)
		}
	}})
}

func TestOneKilledInMidCallback(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for _, victim := range of.all() {
			if victim == of.worker {
				continue // that is a scenario
			}
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				newProduction(t, of, process.Direct).killed(victim)
			})
		}
	})
}

func TestKilledIdle(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for victim, services := range of.victims() {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				p := newProduction(t, of, process.Direct)
				plan := idle(300)
				_, summary := p.run(trial{fault: "kill -9 of " + victim + ", idle", plan: plan, strike: func(l *load.Load) {
					p.awaitBooked(l, plan.Timers)
					require.Zero(t, p.witness.Count(), "it is idle")
					p.crash(services...)
				}})
				require.Zero(t, summary.Duplicates, "nothing was in flight")
			})
		}
	})
}
