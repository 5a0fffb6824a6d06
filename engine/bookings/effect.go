package bookings

// Effect is the state of a change when the caller's wait was over.
type Effect string

// The closed list of effects.
const (
	// Created: there was no timer, and now there is.
	Created Effect = "created"
	// Done: the change took effect.
	Done Effect = "done"
	// Pending: the change is durable and will be applied before any callback,
	// but no worker has applied it yet.
	Pending Effect = "pending"
)
