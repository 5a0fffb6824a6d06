package model

import "github.com/wakecall/wakecall/core/timer"

// Kind is what sort of timer was booked.
type Kind string

// The kinds of timers.
const (
	// OneShot rings once.
	OneShot Kind = "one-shot"
	// Recurring rings [Occurrences] times by its rule.
	Recurring Kind = "recurring"
	// Acknowledged rings once, and its receiver says later what became of it.
	Acknowledged Kind = "acknowledged"
	// Debounced rings once, and each PUT puts it off.
	Debounced Kind = "debounced"
	// Preloaded rings once, and a worker holds it shortly before.
	Preloaded Kind = "preloaded"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{OneShot, Recurring, Acknowledged, Debounced, Preloaded} }

// Phase is where a timer stands.
type Phase string

// The phases of a timer's life.
const (
	// Scheduled: cold until its time comes. No worker is needed.
	Scheduled Phase = "scheduled"
	// Paused: cold until a client resumes it.
	Paused Phase = "paused"
	// Held: a worker has preloaded it and waits in memory for the instant.
	Held Phase = "held"
	// Attempting: the first attempt is in flight.
	Attempting Phase = "attempting"
	// Waiting: the server holds the wait before the next attempt.
	Waiting Phase = "waiting"
	// Retrying: a later attempt is in flight.
	Retrying Phase = "retrying"
	// Accepted: the receiver has accepted an attempt, and is to acknowledge it.
	Accepted Phase = "accepted"
	// Delivered, Failed, Expired and Cancelled are the ends.
	Delivered Phase = "delivered"
	Failed    Phase = "failed"
	Expired   Phase = "expired"
	Cancelled Phase = "cancelled"
)

// Phases lists every phase, in the order of a timer's life.
func Phases() []Phase {
	return []Phase{Scheduled, Paused, Held, Attempting, Waiting, Retrying, Accepted, Delivered, Failed, Expired, Cancelled}
}

// Ended reports whether the timer has ended.
func (p Phase) Ended() bool { return p.Status().Finished() }

// InFlight reports whether an attempt is in flight.
func (p Phase) InFlight() bool { return p == Attempting || p == Retrying }

// Cold reports whether nothing runs for the timer.
func (p Phase) Cold() bool { return p == Scheduled || p == Paused }

// Status is what a reader of the API is shown. A first attempt shows only once it has failed,
// since Temporal stores nothing of it before.
func (p Phase) Status() timer.Status {
	switch p {
	case Scheduled, Held, Attempting:
		return timer.Scheduled
	case Waiting, Retrying, Accepted:
		return timer.Delivering
	default:
		return timer.Status(p)
	}
}

// What the model takes for granted of every timer.
const (
	// Attempts is how many attempts a round has at most.
	Attempts = 2
	// Occurrences is how often a recurring timer rings by its rule.
	Occurrences = 2
)

// State is where a timer stands, and what of its past matters.
type State struct {
	Kind  Kind
	Phase Phase
	// Attempt is the number of the last attempt of this round that was recorded.
	Attempt int
	// Round counts the deliveries that gave way to another one.
	Round int
	// Overdue reports whether the time to ring has come already.
	Overdue bool
	// Bounded reports whether the longest wait of a debounced timer counts already.
	Bounded bool
	// Unpreloaded reports whether no worker is asked again to hold it.
	Unpreloaded bool
	// Endless reports whether it has no latest time, and Lapsed whether that has passed.
	Endless, Lapsed bool
	// Cancelling reports whether a cancel waits for the attempt in flight, and Change is the
	// change that does; "" for none.
	Cancelling bool
	Change     Event
	// Series is where a recurring timer stands in its rule.
	Series Series
}

// Series is where a recurring timer stands in its rule.
type Series struct {
	// Number is the occurrence at hand, from 1, and Rung the highest number that is used up.
	Number, Rung int
	// Left is how often the rule rings still, the occurrence at hand included.
	Left int
	// Extra reports whether a client asked for the occurrence at hand, and Interrupted is
	// the one that goes on after it; 0 for none.
	Extra       bool
	Interrupted int
}

// Booked is a timer that was booked just now.
func Booked(kind Kind) State {
	s := State{Kind: kind, Phase: Scheduled, Bounded: kind == Debounced}
	if kind == Recurring {
		s.Series = Series{Number: 1, Left: Occurrences}
	}
	return s
}
