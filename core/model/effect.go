package model

import "github.com/wakecall/wakecall/core/timer"

// The names of effects.
const (
	// Ring: the first attempt of a delivery calls the receiver, within the workflow task.
	Ring = "ring"
	// Retry: an attempt calls the receiver from the queue.
	Retry = "retry"
	// Rearm: the run ends, and the timer goes on in another one.
	Rearm = "rearm"
	// Show: lists show a status.
	Show = "show"
	// Remember: the memo records the accepted attempt.
	Remember = "remember"
	// End: the timer ends.
	End = "end"
	// Refuse: a client's call came too late or does not fit.
	Refuse = "refuse"
	// Start: another run of the booking is started.
	Start = "start"
)

// Effect is one visible result of an event.
type Effect struct {
	Name string
	// Attempt is the number of a call, from 1.
	Attempt int
	// Status is the status shown, or the status of the end.
	Status timer.Status
}

func ring(attempt int) Effect           { return Effect{Name: Ring, Attempt: attempt} }
func retry(attempt int) Effect          { return Effect{Name: Retry, Attempt: attempt} }
func show(status timer.Status) Effect   { return Effect{Name: Show, Status: status} }
func ending(status timer.Status) Effect { return Effect{Name: End, Status: status} }

var (
	rearm    = Effect{Name: Rearm}
	remember = Effect{Name: Remember}
	refuse   = Effect{Name: Refuse}
	start    = Effect{Name: Start}
)
