package model

// Event is something that happens to a timer.
type Event string

// The events of the clock.
const (
	// HandedOut: a worker gets the timer, a lead before it rings.
	HandedOut Event = "handed out"
	// Due: the time to ring comes.
	Due Event = "due"
	// DueLimited: the time to ring comes while the business type is limited.
	DueLimited Event = "due while limited"
	// WaitOver: the wait before the next attempt is over.
	WaitOver Event = "wait over"
	// LatestPasses: the latest time passes.
	LatestPasses Event = "latest time"
	// AckOver: the time to acknowledge is over.
	AckOver Event = "no word"
)

// The events of a client.
const (
	// Move: a later due time.
	Move Event = "move"
	// Edit: a change that does not move the ring.
	Edit Event = "edit"
	// Push: a PUT that postpones a debounced timer.
	Push Event = "push"
	// Fire: ring now.
	Fire Event = "fire"
	// Pause and Resume: a client pauses or resumes a timer.
	Pause  Event = "pause"
	Resume Event = "resume"
	// Cancel ends a timer.
	Cancel Event = "cancel"
	// Redeliver tries a failed timer again.
	Redeliver Event = "redeliver"
)

// The receiver's answers.
const (
	// OK: 2xx.
	OK Event = "2xx"
	// EndSeries: 2xx, and no further occurrence.
	EndSeries Event = "2xx and stop"
	// Accept: 202, with an acknowledgement later.
	Accept Event = "202"
	// Error: an answer that leads to a retry.
	Error Event = "5xx"
	// Busy: 429 or 503 with Retry-After.
	Busy Event = "retry after"
	// Gone: an answer that leads to no retry.
	Gone Event = "410"
	// Ack and Nack: the acknowledgement of an accepted attempt.
	Ack  Event = "ack"
	Nack Event = "nack"
)

// The events of a worker.
const (
	// WorkerDies: the worker that has the timer dies.
	WorkerDies Event = "worker dies"
	// WorkerStops: it stops and hands the timer back.
	WorkerStops Event = "worker stops"
	// NoRoom: it has no room for another timer.
	NoRoom Event = "no room"
)

// Events lists every event.
func Events() []Event {
	return []Event{
		HandedOut, Due, DueLimited, WaitOver, LatestPasses, AckOver,
		Move, Edit, Push, Fire, Pause, Resume, Cancel, Redeliver,
		OK, EndSeries, Accept, Error, Busy, Gone, Ack, Nack,
		WorkerDies, WorkerStops, NoRoom,
	}
}

// Changes lists the changes of a client.
func Changes() []Event { return []Event{Move, Edit, Push, Fire, Pause, Resume} }
