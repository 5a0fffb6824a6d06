package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// herd is a load that falls due in one millisecond.
func herd() load.Plan {
	timers := scaled(10_000, 500)
	return load.Plan{Timers: timers, Over: time.Duration(timers) * 8 * time.Millisecond, Lead: 10 * time.Second, Herd: true}
}

// herdLimits allow for as long as a busy machine takes to work it off.
var herdLimits = within(5*time.Minute, 5*time.Minute)

func (s *standalone) herd() {
	_, summary := s.run(trial{fault: "herd, standalone", plan: herd(), limits: herdLimits, strike: func(*load.Load) {}})
	require.Zero(s.t, summary.Duplicates, "nothing crashed")
}

func TestHerdInProduction(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newProduction(t, process.Direct)
	_, summary := p.run(trial{fault: "herd, PostgreSQL", plan: herd(), limits: herdLimits, strike: func(*load.Load) {}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
}
