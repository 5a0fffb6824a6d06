package fault

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// slow are the limits of a trial that is about who wins and not about when.
var slow = within(time.Minute, time.Minute)

// A move or cancel comes at the very moment of the ring, and whichever wins,
// the answer says so.
func (p *production) races() {
	timers := scaled(1000, 120)
	plan := load.Plan{
		Timers: timers, Over: time.Duration(timers) * 100 * time.Millisecond, Lead: 2 * time.Second, Spread: time.Second,
		Move: 0.5, Cancel: 0.5, Race: 300 * time.Millisecond,
	}
	run, summary := p.run(trial{fault: "changes and cancels within 300 ms of the due time", plan: plan, limits: slow, strike: func(*load.Load) {}})
	require.Zero(p.t, summary.Duplicates, "nothing crashed")
	answers := map[oracle.Op]map[int]int{oracle.Change: {}, oracle.Cancel: {}}
	for _, call := range run.Calls {
		if call.Op != oracle.Add {
			answers[call.Op][call.Status]++
		}
	}
	p.t.Logf("answers: %v", answers)
	for op, of := range answers {
		require.NotZero(p.t, of[200]+of[202], "some %s won", op)
		if long { // on a machine that is busy with other tests a ring is late, and loses
			require.NotZero(p.t, of[409], "some %s lost", op)
		}
	}
}
