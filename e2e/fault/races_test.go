package fault

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// slow are the limits of a trial about the winner, not about the time.
var slow = within(time.Minute, time.Minute)

// starved is how long an answer takes at least where Temporal gives none: then 503 is exact as well.
const starved = 3 * time.Second

// Moves and cancels come at the very moment of the ring: the answer names the winner. The
// worker has checked for them shortly before the ring, so few of them win.
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

// A cancel follows a move at once, on held, rung or retried timers: the cancel holds,
// whatever was accepted before it.
func TestCancelledAfterAMove(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		plan := load.Plan{
			Timers: 1000, Over: 100 * time.Second, Lead: 2 * time.Second, Spread: time.Second, Hold: 300 * time.Millisecond,
			Refuse: 0.3, Move: 1, Race: 600 * time.Millisecond, Regret: true,
		}
		run, summary := p.run(trial{fault: "cancel right after a move, neither waits", plan: plan, limits: slow, strike: func(*load.Load) {}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
		answers := map[oracle.Op]map[int]int{oracle.Change: {}, oracle.Cancel: {}}
		for _, call := range run.Calls {
			if call.Op != oracle.Add {
				answers[call.Op][call.Status]++
			}
		}
		t.Logf("answers: %v", answers)
		require.Greater(t, answers[oracle.Cancel][200]+answers[oracle.Cancel][202], plan.Timers/4, "many are cancelled")
	})
}

// Attempts last longer than the SDK keeps a workflow task without a heartbeat, and either of
// two workers may have the task when a change or a cancel comes.
func TestLongAttemptsAmongTwoWorkers(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.beside(of.worker)
		p.policy(p.witness.URL, contract.JSON{"callback": contract.JSON{"url": p.witness.URL, "timeout": "30s"}})
		plan := load.Plan{
			Timers: 200, Over: 20 * time.Second, Lead: 22 * time.Second, Spread: 10 * time.Second, Hold: 18 * time.Second,
			Move: 0.4, Cancel: 0.4, Race: 20 * time.Second,
		}
		_, summary := p.run(trial{fault: "attempts of 18 s among two workers, changed and cancelled", plan: plan, limits: slow, strike: func(*load.Load) {}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}

// race counts the statuses of the answers to each call.
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
			if call.Status != http.StatusServiceUnavailable || call.Answered.Sub(call.Sent) < starved {
				require.Contains(p.t, []int{200, 202, 409}, call.Status, "an exact answer: %+v", call)
			}
			answers[call.Op][call.Status]++
			calls++
		}
	}
	p.t.Logf("answers: %v", answers)
	require.Equal(p.t, timers, calls, "every timer was raced for once")
	return answers
}
