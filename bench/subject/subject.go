// Package subject holds what is measured: Wakecall, bare Temporal loops, and
// the job queues that are its peers, each behind the same small interface and
// each set up as its own documentation advises.
package subject

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/bench/stage"
)

// ErrUnsupported is what a subject answers that cannot do what is asked.
var ErrUnsupported = errors.New("not supported")

// Timer is a timer to book.
type Timer struct {
	ID  string
	Due time.Time
	// Preload books it under the policy of Preloader.
	Preload bool
}

// Subject books timers that call a receiver by HTTP, with the timer's id in the
// body. A call that returned has made the timer durable.
type Subject interface {
	// Start brings up all that the subject needs. What it starts ends with the
	// stage, or with this process.
	Start(s *stage.Stage, receiver string) error
	// Add books one timer. It is called concurrently.
	Add(ctx context.Context, timer Timer) error
	// AddBatch books up to 1,000 timers in the fastest way there is, and tells
	// how many are booked, also when some are not.
	AddBatch(ctx context.Context, timers []Timer) (booked int, err error)
	// Counters are those of the store, since its start.
	Counters(ctx context.Context) (Counters, error)
	Close() error
}

// Counters are what a store has counted.
type Counters struct {
	// Commits is how many SQL transactions have written something.
	Commits int64 `json:"commits"`
	// Bytes is what the store takes on disk, indexes included. PostgreSQL's log
	// is left out: its size is a setting.
	Bytes int64 `json:"bytes"`
}

// Sub is what was counted since an earlier moment.
func (c Counters) Sub(earlier Counters) Counters {
	return Counters{Commits: c.Commits - earlier.Commits, Bytes: c.Bytes - earlier.Bytes}
}

// Trail is what Temporal has written about one delivered timer.
type Trail struct {
	Transitions int64 `json:"transitions"`
	Events      int64 `json:"events"`
}

// Queuer is a subject that calls no receiver by HTTP: its rings are messages in a queue,
// from which the receiver takes them.
type Queuer interface {
	Queue() Queue
}

// Queue is a durable queue of a RabbitMQ, which has no arguments.
type Queue struct{ URL, Name string }

// Tracer is a subject on Temporal.
type Tracer interface {
	Trail(ctx context.Context, timer Timer) (Trail, error)
	// Open is how many executions have not ended: what has rung is recorded
	// some time later.
	Open(ctx context.Context) (int64, error)
}

// Preloader is a subject that can hold timers in memory before they are due.
type Preloader interface {
	// Preload puts the policy that holds timers for the given time, at most a
	// minute. ErrUnsupported if this version cannot.
	Preload(ctx context.Context, lead time.Duration) error
}

// Masser is a subject that calls back for many at once in a way of its own, and not by a
// timer for each.
type Masser interface {
	// Mass has all of them called back from the given instant on, as fast as it goes.
	Mass(ctx context.Context, timers []Timer, from time.Time) error
}

// Changer is a subject whose timers can be moved and cancelled.
type Changer interface {
	Move(ctx context.Context, timer Timer) (Answer, error)
	Cancel(ctx context.Context, id string) (Answer, error)
}

// Answer is what a subject says about a change.
type Answer string

// A change took effect, came after the ring, or is stored and will be applied.
const (
	Done    Answer = "done"
	TooLate Answer = "too_late"
	Pending Answer = "pending"
)

// Recurrer is a subject whose timers can recur.
type Recurrer interface {
	// Recur books a timer that is due at every whole multiple of the interval
	// after 1970-01-01T00:00Z, until Rest. ErrUnsupported if this version
	// cannot.
	Recur(ctx context.Context, id string, every time.Duration) error
	// Rest ends a recurring timer.
	Rest(ctx context.Context, id string) error
	// Recurred tells what was written for a timer that rests.
	Recurred(ctx context.Context, id string) (Recurred, error)
}

// Recurred is all that Temporal has written for recurring timers, their
// creation and their end included, and for how many occurrences.
type Recurred struct {
	Trail
	Occurrences int `json:"occurrences"`
}

// Add sums up.
func (r Recurred) Add(other Recurred) Recurred {
	r.Transitions, r.Events, r.Occurrences = r.Transitions+other.Transitions, r.Events+other.Events, r.Occurrences+other.Occurrences
	return r
}
