// Package scenario makes the load, and judges its outcome.
//
// The load is open: timers are booked for moments fixed beforehand, and measured calls are
// made at such moments, however long earlier calls take. Lateness counts from that moment,
// so that a stalled subject cannot hide it.
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
	// Timers is the number of timers, or the number per call. They are due at one instant
	// or, if Over is set, evenly spread over it.
	Timers int           `json:"timers,omitempty"`
	Over   time.Duration `json:"over,omitempty"`
	// Mass reports whether a subject uses its own operation for many callbacks, if it has one.
	Mass bool `json:"mass,omitempty"`
	// Preload is how long before their due time a policy holds them in memory.
	Preload time.Duration `json:"preload,omitempty"`
	// Ahead is the least time between the last booking and the first due time.
	Ahead time.Duration `json:"ahead,omitempty"`
	// Within is how long before the first due time booking begins, if given.
	Within time.Duration `json:"within,omitempty"`
	// For is how long calls are made, at Rate a second if that is set.
	For  time.Duration `json:"for,omitempty"`
	Rate int           `json:"rate,omitempty"`
	// Every is the interval of recurring timers.
	Every time.Duration `json:"every,omitempty"`
	// Power reports whether a crash is a power cut.
	Power bool `json:"power,omitempty"`
}

// Kind is the kind of a scenario.
type Kind string

// The scenarios.
const (
	Ring      Kind = "ring"      // timers booked ahead, spread or at one instant
	Adds      Kind = "adds"      // bookings one by one, as fast as possible
	AddsOpen  Kind = "adds_open" // bookings one by one, at a given rate
	AddsBatch Kind = "adds_batch"
	Mixed     Kind = "mixed" // bookings, moves and cancels while timers ring
	Recurring Kind = "recurring"
	Pending   Kind = "pending" // many bookings due far in the future, while a few timers ring
	Crash     Kind = "crash"   // bookings until the subject is killed; what was acknowledged rings
)

// Booking is the load on a subject, and the subject's answers.
type Booking struct {
	// Skipped is why the subject does not take part in this scenario.
	Skipped string `json:"skipped,omitempty"`
	// Expected must ring once each at their due time.
	Expected []subject.Timer
	// Forbidden must not ring: the subject reported their cancel.
	Forbidden []subject.Timer
	// Free may ring or not: the subject did not report which.
	Free []subject.Timer
	// Every is set if each of Expected rings repeatedly, from From to Until.
	Every       time.Duration
	From, Until time.Time
	// Calls are the measured calls.
	Calls Calls
	// Ahead is the number of remaining timers due far in the future.
	Ahead int
	// Late is how many timers were acknowledged after the first was due: the lateness of
	// such a run is meaningless.
	Late int
}

// Runner makes the load of one subject.
type Runner struct {
	subject subject.Subject
	// disk is the subject's own disk, or nil.
	disk Disk
	// pace is the average time of one booking within a batch.
	pace time.Duration
}

// NewRunner returns a runner for a started subject, and for the disk with all of its files; nil
// if it has none of its own.
func NewRunner(s subject.Subject, disk Disk) *Runner { return &Runner{subject: s, disk: disk} }

// Run makes the load of a plan, and returns when the last call was answered.
func (r *Runner) Run(ctx context.Context, plan Plan) (Booking, error) {
	scenarios := map[Kind]func(context.Context, Plan) (Booking, error){
		Ring: r.ring, Adds: r.adds, AddsOpen: r.addsOpen, AddsBatch: r.addsBatch, Mixed: r.mixed, Recurring: r.recurring,
		Pending: r.pending, Crash: r.crash,
	}
	run, known := scenarios[plan.Kind]
	if !known {
		return Booking{}, fmt.Errorf("no scenario %q", plan.Kind)
	}
	return run(ctx, plan)
}

func id(plan Plan, n int) string { return fmt.Sprintf("%s-%d", plan.Name, n) }
