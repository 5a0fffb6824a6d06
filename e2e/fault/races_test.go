package fault

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// slow are the limits of a trial that is about who wins and not about when.
var slow = within(time.Minute, time.Minute)

// Moves and cancels come at the very moment of the ring: whichever wins, the
// answer says so. The worker has looked for them shortly before the ring, so
// few of them win.
func (p *production) races() {
	p.race("changes and cancels within 50 ms of the due time", 50*time.Millisecond)
}

// Moves and cancels come while the ring is held: there is time for some to win.
func (p *production) racesWhileHeld() {
	answers := p.race("changes and cancels within 300 ms of the due time", 300*time.Millisecond)
	for op, of := range answers {
		require.NotZero(p.t, of[200]+of[202], "some %s won", op)
		if long { // on a machine that is busy with other tests a ring is late, and loses
			require.NotZero(p.t, of[409], "some %s lost", op)
		}
	}
}

// race returns how often each call was answered by each status.
func (p *production) race(fault string, within time.Duration) map[oracle.Op]map[int]int {
	timers := scaled(1000, 80)
	plan := load.Plan{
		Timers: timers, Over: time.Duration(timers) * 100 * time.Millisecond, Lead: 2 * time.Second, Spread: time.Second,
		Move: 0.5, Cancel: 0.5, Race: within,
	}
	run, summary := p.run(trial{fault: fault, plan: plan, limits: slow, strike: func(*load.Load) {}})
	require.Zero(p.t, summary.Duplicates, "nothing crashed")
	answers, calls := map[oracle.Op]map[int]int{oracle.Change: {}, oracle.Cancel: {}}, 0
	for _, call := range run.Calls {
		if call.Op != oracle.Add {
			require.Contains(p.t, []int{200, 202, 409}, call.Status, "an exact answer: %+v", call)
			answers[call.Op][call.Status]++
			calls++
		}
	}
	p.t.Logf("answers: %v", answers)
	require.Equal(p.t, timers, calls, "every timer was raced for once")
	return answers
}
