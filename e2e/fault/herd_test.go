package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// herd is a load that falls due in one millisecond.
func herd() load.Plan {
	timers := scaled(10_000, 300)
	return load.Plan{Timers: timers, Over: time.Duration(timers) * 8 * time.Millisecond, Lead: 10 * time.Second, Herd: true}
}

// herdLimits allow for as long as a busy machine takes to work it off.
var herdLimits = within(5*time.Minute, 5*time.Minute)

func (s *standalone) herd() {
	_, summary := s.run(trial{fault: "herd, standalone", plan: herd(), limits: herdLimits, strike: func(*load.Load) {}})
	require.Zero(s.t, summary.Duplicates, "nothing crashed")
}

// A herd needs the machine for itself: two of them at once measure each other.
func TestHerd(t *testing.T) {
	longOnly(t)
	t.Run("standalone", func(t *testing.T) { newStandalone(t).herd() })
	for _, of := range forms {
		t.Run(of.name, func(t *testing.T) {
			p := newProduction(t, of, process.Direct)
			_, summary := p.run(trial{fault: "herd, PostgreSQL", plan: herd(), limits: herdLimits, strike: func(*load.Load) {}})
			require.Zero(t, summary.Duplicates, "nothing crashed")
		})
	}
}

// preload is the longest that a policy may have.
const preload = time.Minute

// A herd that its policy announces is held before it is due, by more than Temporal
// records within the time that a task has. What times out comes again, and finds
// the receipt: long after the last ring, nobody has been called twice.
func (b *bench) preloadedHerd(fault string) {
	b.policy(b.witness.URL, contract.JSON{"preload": preload.String()})
	plan := herd()
	plan.Lead = preload + 10*time.Second
	_, summary := b.run(trial{fault: fault, plan: plan, limits: herdLimits, strike: func(l *load.Load) {
		l.Wait()
		due := l.Calls()[0].Due
		b.pause(time.Until(due) + watched)
	}})
	require.Zero(b.t, summary.Duplicates, "nothing crashed")
	require.Equal(b.t, plan.Timers, b.witness.Count(), "each is called once")
}

// watched is how long duplicates are looked out for: longer than any task of the
// herd has, even one that was handed out at the due time.
const watched = 3 * time.Minute

func TestPreloadedHerd(t *testing.T) {
	longOnly(t)
	t.Run("standalone", func(t *testing.T) { newStandalone(t).preloadedHerd("herd with a preload of 1m, standalone") })
	for _, of := range forms {
		t.Run(of.name, func(t *testing.T) {
			newProduction(t, of, process.Direct).preloadedHerd("herd with a preload of 1m, PostgreSQL")
		})
	}
}

// A worker dies with a herd in its hands, and another one comes up, which takes the herd
// over.
func TestHoldingWorkerKilled(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		plan := load.Plan{Timers: 1000, Over: 20 * time.Second, Lead: 30 * time.Second, Herd: true}
		if of == roles { // what it holds was handed out, which takes a while on a busy machine
			p.policy(p.witness.URL, contract.JSON{"preload": preload.String()})
			plan.Lead = preload
		}
		_, summary := p.run(trial{
			fault: "kill -9 of a " + p.worker + " that holds 1,000 timers", plan: plan, limits: within(time.Minute, herdTakenOver),
			strike: func(l *load.Load) {
				p.awaitBooked(l, plan.Timers)
				held := func() bool { return p.held() >= plan.Timers*95/100 }
				require.Eventually(t, held, time.Minute, 50*time.Millisecond, "the worker holds the herd before it is due")
				require.Zero(t, p.witness.Count(), "nothing has rung")
				p.crash(p.worker)
			},
		})
		require.Zero(t, summary.Duplicates, "nothing was in flight")
	})
}

// held is how many timers the worker holds.
func (p *production) held() int {
	text, err := p.living[p.worker].Metrics()
	require.NoError(p.t, err)
	return gauge(text, "wakecall_preloaded_timers")
}
