// Package subject is the small interface that every measured system has, and the wider ones that
// some have. Package systems makes them.
package subject

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/bench/stage"
)

// ErrUnsupported is the error of an operation that a subject lacks.
var ErrUnsupported = errors.New("not supported")

// Timer is a timer to book.
type Timer struct {
	ID  string
	Due time.Time
	// Preload books it under the policy of [Preloader].
	Preload bool
}

// Subject books timers that call a receiver by HTTP, with the timer's id in the body. A
// timer is durable once the call has returned.
type Subject interface {
	// Start starts all that the subject needs. All of it ends with the stage, or with this
	// process.
	Start(s *stage.Stage, receiver string) error
	// Add books one timer. It is called concurrently.
	Add(ctx context.Context, timer Timer) error
	// AddBatch books up to 1,000 timers in the fastest way there is. It returns the number
	// of booked timers, also when some failed.
	AddBatch(ctx context.Context, timers []Timer) (booked int, err error)
	// Counters returns the counters of the store, since its start.
	Counters(ctx context.Context) (Counters, error)
	Close() error
}

// Counters are the counters of a store.
type Counters struct {
	// Commits is the number of SQL transactions that wrote data.
	Commits int64 `json:"commits"`
	// Bytes is the size of the store on disk, indexes included. PostgreSQL's log is left
	// out: its size is a setting.
	Bytes int64 `json:"bytes"`
}

// Sub is the difference to an earlier moment.
func (c Counters) Sub(earlier Counters) Counters {
	return Counters{Commits: c.Commits - earlier.Commits, Bytes: c.Bytes - earlier.Bytes}
}

// Trail is what Temporal has written about one delivered timer.
type Trail struct {
	Transitions int64 `json:"transitions"`
	Events      int64 `json:"events"`
}

// Queuer is a subject that does not call by HTTP: its rings are messages in a queue, from
// which the receiver takes them.
type Queuer interface {
	Queue() Queue
}

// Queue is a durable queue of a RabbitMQ, without arguments.
type Queue struct{ URL, Name string }

// Tracer is a subject on Temporal.
type Tracer interface {
	Trail(ctx context.Context, timer Timer) (Trail, error)
	// Open is how many executions have not ended: rings are recorded some time later.
	Open(ctx context.Context) (int64, error)
}

// Preloader is a subject that can hold timers in memory before they are due.
type Preloader interface {
	// Preload puts the policy that holds timers for the given time, at most a
	// minute. ErrUnsupported if this version cannot.
	Preload(ctx context.Context, lead time.Duration) error
}

// Masser is a subject with an operation for many callbacks at once, instead of a timer for each.
type Masser interface {
	// Mass has all of them called back from the given instant on, as fast as possible.
	Mass(ctx context.Context, timers []Timer, from time.Time) error
}

// Changer is a subject whose timers can be moved and cancelled.
type Changer interface {
	Move(ctx context.Context, timer Timer) (Answer, error)
	Cancel(ctx context.Context, id string) (Answer, error)
}

// Answer is a subject's answer to a change.
type Answer string

// A change took effect, came after the ring, or is stored and will be applied.
const (
	Done    Answer = "done"
	TooLate Answer = "too_late"
	Pending Answer = "pending"
)

// Crasher is a subject whose processes can be killed.
type Crasher interface {
	// Kill ends the store, and everything else of the subject outside of this process, with
	// SIGKILL.
	Kill() error
	// Revive starts them again on what is stored.
	Revive() error
}

// Recurrer is a subject whose timers can recur.
type Recurrer interface {
	// Recur books a timer that is due at every whole multiple of the interval after
	// 1970-01-01T00:00Z, until Rest. ErrUnsupported if this version cannot.
	Recur(ctx context.Context, id string, every time.Duration) error
	// Rest ends a recurring timer.
	Rest(ctx context.Context, id string) error
	// Recurred returns what was written for a timer after Rest.
	Recurred(ctx context.Context, id string) (Recurred, error)
}

// Recurred is all that Temporal has written for recurring timers, from their creation to
// their end, and the number of occurrences.
type Recurred struct {
	Trail
	Occurrences int `json:"occurrences"`
}

// Add sums up.
func (r Recurred) Add(other Recurred) Recurred {
	r.Transitions, r.Events, r.Occurrences = r.Transitions+other.Transitions, r.Events+other.Events, r.Occurrences+other.Occurrences
	return r
}
