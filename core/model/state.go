package model

import "github.com/wakecall/wakecall/core/timer"

// Kind is the kind of a booked timer.
type Kind string

// The kinds of timers.
const (
	// OneShot rings once.
	OneShot Kind = "one-shot"
	// Recurring rings [Occurrences] times by its rule.
	Recurring Kind = "recurring"
	// Acknowledged rings once, and its receiver acknowledges it later.
	Acknowledged Kind = "acknowledged"
	// Debounced rings once, and each PUT postpones it.
	Debounced Kind = "debounced"
	// Preloaded rings once, and a worker holds it shortly before.
	Preloaded Kind = "preloaded"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{OneShot, Recurring, Acknowledged, Debounced, Preloaded} }

// Phase is a phase of a timer's life.
type Phase string

// The phases of a timer's life.
const (
	// Scheduled: cold until its time comes. No worker is needed.
	Scheduled Phase = "scheduled"
	// Paused: cold until a client resumes it.
	Paused Phase = "paused"
	// Held: a worker has preloaded it and waits for its time.
	Held Phase = "held"
	// Attempting: the first attempt is in flight.
	Attempting Phase = "attempting"
	// Waiting: the server holds the wait before the next attempt.
	Waiting Phase = "waiting"
	// Retrying: a later attempt is in flight.
	Retrying Phase = "retrying"
	// Accepted: the receiver has accepted an attempt, and has yet to acknowledge it.
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

// Status returns the status in the API. A first attempt shows only after it has failed, since
// Temporal stores nothing of it before.
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

// Assumptions of the model about every timer.
const (
	// Attempts is the largest number of attempts in a round.
	Attempts = 2
	// Occurrences is how often a recurring timer rings by its rule.
	Occurrences = 2
)

// State is the state of a timer, with the relevant part of its past.
type State struct {
	Kind  Kind
	Phase Phase
	// Attempt is the number of the last recorded attempt of this round.
	Attempt int
	// Round counts the deliveries replaced by another.
	Round int
	// Overdue reports whether the time to ring has come.
	Overdue bool
	// Bounded reports whether the longest wait of a debounced timer has begun.
	Bounded bool
	// Unpreloaded reports whether workers no longer preload it.
	Unpreloaded bool
	// Endless reports whether it has no latest time, and Lapsed whether that has passed.
	Endless, PastLatest bool
	// Cancelling reports whether a cancel waits for the attempt in flight. Change is a waiting
	// change; "" for none.
	Cancelling bool
	Change     Event
	// Series is the position of a recurring timer in its rule.
	Series Series
}

// Series is the position of a recurring timer in its rule.
type Series struct {
	// Number is the current occurrence, from 1, and Rung the highest used number.
	Number, Rung int
	// Left is the number of remaining rings by the rule, including the current occurrence.
	Left int
	// Extra reports whether a client requested the current occurrence. Interrupted is the
	// occurrence that goes on after it; 0 for none.
	Extra       bool
	Interrupted int
}

// Booked returns a newly booked timer.
func Booked(kind Kind) State {
	s := State{Kind: kind, Phase: Scheduled, Bounded: kind == Debounced}
	if kind == Recurring {
		s.Series = Series{Number: 1, Left: Occurrences}
	}
	return s
}
