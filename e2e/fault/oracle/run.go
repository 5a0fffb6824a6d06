package oracle

import (
	"fmt"
	"slices"
	"time"
)

// Run is the complete record of one run.
type Run struct {
	Calls    []Call
	Arrivals []Arrival
	Faults   []Fault
	Rest     Rest
	Limits   Limits
}

// Limits are the limits for a run.
type Limits struct {
	// Calm is the greatest lateness without a fault.
	Calm time.Duration
	// Recovery is the greatest lateness from the end of the fault that delayed the timer.
	Recovery time.Duration
	// Settle is how long Temporal may take to record an attempt that ended. Until then the
	// attempt counts as in flight.
	Settle time.Duration
	// Ahead is how much too early a timer may ring: nothing, unless a worker's clock was put
	// forward.
	Ahead time.Duration
	// Slack is the allowed excess of a gap between attempts over its step and a fifth of it.
	Slack time.Duration
	// Ladder are the waits after the first, second, … failed attempt.
	Ladder []time.Duration
}

// Violation is one broken promise.
type Violation struct {
	Rule Rule
	ID   string
	What string
}

// String is one line.
func (v Violation) String() string { return fmt.Sprintf("%s %s: %s", v.Rule, v.ID, v.What) }

// Rule is the name of a promise.
type Rule string

// The rules, numbered as in the reliability reference.
const (
	Loss       Rule = "I1 loss"
	Early      Rule = "I2 early"
	Duplicates Rule = "I3 duplicates"
	Phantoms   Rule = "I4 phantoms"
	Unknowns   Rule = "I5 unknown outcomes"
	Gaps       Rule = "I6 retry gaps"
	Lateness   Rule = "I7 lateness"
	Revisions  Rule = "I8 revisions"
	Quiescence Rule = "I9 quiescence"
)

// rules maps each rule to the function that finds its violations.
var rules = []func(Run, timers) []Violation{
	loss, early, duplicates, phantoms, unknowns, gaps, lateness, revisions, quiescence,
}

// Check returns every broken promise.
func Check(run Run) (found []Violation) {
	all := timersOf(run)
	for _, rule := range rules {
		found = append(found, rule(run, all)...)
	}
	return found
}

// Summary is one row of the table.
type Summary struct {
	Timers     int
	Lost       int
	Early      int
	Duplicates int
	// Median, P99 and Worst are of the lateness of first attempts.
	Median, P99, Worst time.Duration
	// Recovery is the time from the end of the last fault until everything that it delayed
	// had rung.
	Recovery time.Duration
}

// Summarise summarises a run. Duplicates includes the allowed ones.
func Summarise(run Run) Summary {
	all := timersOf(run)
	s := Summary{Lost: len(loss(run, all)), Early: len(early(run, all))}
	for _, t := range all {
		if t.booked() {
			s.Timers++
		}
		for range t.duplicates() {
			s.Duplicates++
		}
	}
	delays := delaysOf(run, all)
	slices.SortFunc(delays, func(a, b delay) int { return int(a.late - b.late) })
	if n := len(delays); n > 0 {
		s.Median, s.P99, s.Worst = delays[n/2].late, delays[n*99/100].late, delays[n-1].late
	}
	for _, d := range delays {
		if d.held {
			s.Recovery = max(s.Recovery, d.excess)
		}
	}
	return s
}
