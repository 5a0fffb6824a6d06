package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// A clock that steps, and steps back, makes timers late by at most the step. It makes them
// early only if it is the worker's, which decides when a timer is due.
func TestClockStepped(t *testing.T) {
	longOnly(t)
	for _, step := range []struct {
		of            form
		name, service string
		ahead         time.Duration
	}{
		{roles, "Temporal's clock put 120 s ahead", "temporal", 120 * time.Second},
		{roles, "Temporal's clock put 40 s back", "temporal", -40 * time.Second},
		{roles, "the worker's clock put 40 s ahead", "worker", 40 * time.Second},
		{roles, "the worker's clock put 40 s back", "worker", -40 * time.Second},
		{roles, "the API's clock put 5 s ahead", "api", 5 * time.Second},
		{roles, "the API's clock put 5 s back", "api", -5 * time.Second},
		{node, "Temporal's clock put 120 s ahead", "temporal", 120 * time.Second},
		{node, "Temporal's clock put 40 s back", "temporal", -40 * time.Second},
		{node, "the node's clock put 40 s ahead", "wakecall", 40 * time.Second},
		{node, "the node's clock put 40 s back", "wakecall", -40 * time.Second},
	} {
		t.Run(step.of.name+"/"+step.name, func(t *testing.T) {
			t.Parallel()
			p := newProduction(t, step.of, process.Direct)
			// A delay that was counted from a clock ahead ends that much later.
			late := step.ahead.Abs() + 12*time.Second
			limits := within(30*time.Second, late)
			if step.service == step.of.gateway { // bookings meanwhile ring later, when nothing is wrong any more
				limits.Calm = max(limits.Calm, late)
			}
			if step.service == step.of.worker {
				limits.Ahead = max(step.ahead, 0)
			}
			plan := idle(600)
			plan.Over, plan.Lead, plan.Spread = 30*time.Second, 5*time.Second, 90*time.Second
			p.run(trial{fault: step.name, plan: plan, limits: limits, strike: func(l *load.Load) {
				p.awaitBooked(l, 200)
				f := p.breaks(false)
				p.living[step.service].SetClock(step.ahead)
				p.pause(15 * time.Second)
				p.living[step.service].SetClock(0)
				p.heals(f)
			}})
		})
	}
}

// The control of the test above: a changed clock is seen as changed.
func (s *standalone) clockIsSet() {
	booked := func(id string) time.Time {
		return s.api.Add(contract.JSON{"business_type": s.kind, "business_id": id, "delay": "3h"}).CreatedAt
	}
	require.WithinDuration(s.t, time.Now(), booked("before"), 10*time.Second)
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 0} {
		s.living["standalone"].SetClock(ahead)
		require.WithinDuration(s.t, time.Now().Add(ahead), booked(ahead.String()), 10*time.Second)
	}
}
