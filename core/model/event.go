package model

// Event is what happens to a timer.
type Event string

// What the clock does.
const (
	// HandedOut: a worker is handed the timer, a lead before it rings.
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

// What a client does.
const (
	// Move: a later due time.
	Move Event = "move"
	// Edit: a change that is not about when the timer rings.
	Edit Event = "edit"
	// Push: a PUT that puts a debounced timer off.
	Push Event = "push"
	// Fire: ring now.
	Fire Event = "fire"
	// Pause stops a timer, and Resume lets it go on.
	Pause  Event = "pause"
	Resume Event = "resume"
	// Cancel ends a timer.
	Cancel Event = "cancel"
	// Redeliver tries a failed timer again.
	Redeliver Event = "redeliver"
)

// What the receiver answers.
const (
	// OK: 2xx.
	OK Event = "2xx"
	// EndSeries: 2xx, and no further occurrence.
	EndSeries Event = "2xx and stop"
	// Accept: 202, and a word later.
	Accept Event = "202"
	// Error: an answer that is tried again.
	Error Event = "5xx"
	// Busy: 429 or 503 with Retry-After.
	Busy Event = "retry after"
	// Gone: an answer that is not tried again.
	Gone Event = "410"
	// Ack and Nack are its later word.
	Ack  Event = "ack"
	Nack Event = "nack"
)

// What becomes of a worker.
const (
	// WorkerDies: the worker that has the timer dies.
	WorkerDies Event = "worker dies"
	// WorkerStops: it stops and hands the timer back.
	WorkerStops Event = "worker stops"
	// NoRoom: it holds as many timers as it can.
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

// Changes lists the changes that a client asks for.
func Changes() []Event { return []Event{Move, Edit, Push, Fire, Pause, Resume} }

// Answers lists what the receiver may answer to an attempt.
func Answers() []Event { return []Event{OK, EndSeries, Accept, Error, Busy, Gone} }
