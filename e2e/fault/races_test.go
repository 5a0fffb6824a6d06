package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// slow are the limits of a trial that is about who wins and not about when.
var slow = oracle.Limits{Calm: time.Minute, Recovery: time.Minute, Settle: limits.Settle, Ladder: ladder}

// A move or cancel comes at the very moment of the ring, and whichever wins,
// the answer says so.
func TestRacesAtTheDueTime(t *testing.T) {
	t.Parallel()
	p := newProduction(t, process.Direct)
	timers := scaled(1000, 150)
	plan := load.Plan{
		Timers: timers, Over: time.Duration(timers) * 100 * time.Millisecond, Lead: 2 * time.Second, Spread: time.Second,
		Move: 0.5, Cancel: 0.5, Race: 50 * time.Millisecond,
	}
	run, summary := p.run(trial{fault: "changes and cancels within 50 ms of the due time", plan: plan, limits: slow, strike: func(*load.Load) {}})
	require.Zero(t, summary.Duplicates, "nothing crashed")
	answers := map[oracle.Op]map[int]int{oracle.Change: {}, oracle.Cancel: {}}
	for _, call := range run.Calls {
		if call.Op != oracle.Add {
			answers[call.Op][call.Status]++
		}
	}
	t.Logf("answers: %v", answers)
	for op, of := range answers {
		require.NotZero(t, of[200]+of[202], "some %s won", op)
		if long { // on a machine that is busy with other tests a ring is late, and loses
			require.NotZero(t, of[409], "some %s lost", op)
		}
	}
}
