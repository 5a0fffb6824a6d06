// Package scenario makes the load, and judges what came of it.
//
// The load is open: every timer is booked for a moment that was fixed
// beforehand, and every call of the scenarios that measure calls is made at
// such a moment, however long the earlier ones take. What is late counts from
// that moment, so that a subject that stalls cannot hide it.
package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

// Plan is one scenario with its sizes.
type Plan struct {
	// Name is unique within a run; Kind is the scenario.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Timers is how many there are, or how many one call books. They are due at
	// one instant or, if Over is set, evenly spread over it.
	Timers int           `json:"timers,omitempty"`
	Over   time.Duration `json:"over,omitempty"`
	// Mass is whether a subject that has a way of its own for many callbacks goes it.
	Mass bool `json:"mass,omitempty"`
	// Preload is how long they are held in memory before they are due, by their
	// policy.
	Preload time.Duration `json:"preload,omitempty"`
	// Ahead is how long before the first one is due all shall be booked at the
	// least.
	Ahead time.Duration `json:"ahead,omitempty"`
	// Within is how long before the first one is due booking begins, where that is given.
	Within time.Duration `json:"within,omitempty"`
	// For is how long calls are made, at Rate a second where it is set.
	For  time.Duration `json:"for,omitempty"`
	Rate int           `json:"rate,omitempty"`
	// Every is the interval of recurring timers.
	Every time.Duration `json:"every,omitempty"`
}

// Kind is the kind of a scenario.
type Kind string

// The scenarios.
const (
	Ring      Kind = "ring"      // timers booked ahead, spread or at one instant
	Adds      Kind = "adds"      // bookings one by one, as fast as they go
	AddsOpen  Kind = "adds_open" // bookings one by one, at a given rate
	AddsBatch Kind = "adds_batch"
	Mixed     Kind = "mixed" // bookings, moves and cancels while timers ring
	Recurring Kind = "recurring"
	Pending   Kind = "pending" // many bookings that are not due for long, while a few timers ring
)

// Booking is what was asked of a subject, and what it said.
type Booking struct {
	// Skipped says why the subject has no part in this scenario.
	Skipped string `json:"skipped,omitempty"`
	// Expected must ring once each at their due time.
	Expected []subject.Timer
	// Forbidden must not ring, for the subject said that they are cancelled.
	Forbidden []subject.Timer
	// Free may ring or not: the subject did not say.
	Free []subject.Timer
	// Every is set where each of Expected rings again and again, from From to Until.
	Every       time.Duration
	From, Until time.Time
	// Calls are the measured calls.
	Calls Calls
	// Ahead is how many timers are left that are not due for long.
	Ahead int
	// Late is how many timers were acknowledged when the first one was due
	// already: the lateness of such a run says nothing.
	Late int
}

// Runner makes the load of one subject.
type Runner struct {
	subject subject.Subject
	// pace is the time that one booking took on average, within a batch.
	pace time.Duration
}

// NewRunner returns a runner for a started subject.
func NewRunner(s subject.Subject) *Runner { return &Runner{subject: s} }

// Run makes the load of a plan, and returns when the last call was answered.
func (r *Runner) Run(ctx context.Context, plan Plan) (Booking, error) {
	scenarios := map[Kind]func(context.Context, Plan) (Booking, error){
		Ring: r.ring, Adds: r.adds, AddsOpen: r.addsOpen, AddsBatch: r.addsBatch, Mixed: r.mixed, Recurring: r.recurring,
		Pending: r.pending,
	}
	run, known := scenarios[plan.Kind]
	if !known {
		return Booking{}, fmt.Errorf("no scenario %q", plan.Kind)
	}
	return run(ctx, plan)
}

func id(plan Plan, n int) string { return fmt.Sprintf("%s-%d", plan.Name, n) }
