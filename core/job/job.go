package job

import "github.com/wakecall/wakecall/core/wire"

// The types in this file are common to jobs of all kinds.

// Status is the state of a job.
type Status string

// The life of a job: running, then one of the three ends.
const (
	// Running: items are left, or no worker has begun.
	Running Status = "running"
	// Done: every item was processed.
	Done Status = "done"
	// Stopped: a caller stopped it.
	Stopped Status = "stopped"
	// Failed: it could not go on.
	Failed Status = "failed"
)

// Statuses lists every status, in the order of a job's life.
func Statuses() []Status { return []Status{Running, Done, Stopped, Failed} }

// Tally counts the outcomes of the items of a job. A kind of job may store and show them under
// other names, by a type with the same fields.
type Tally struct {
	// Found counts the items; nil before they are counted.
	Found *int `json:"found"`
	// Done counts the items processed as ordered.
	Done int `json:"done"`
	// Skipped counts the items that no longer matched the order.
	Skipped int `json:"skipped"`
	// Failed counts the items that could not be processed.
	Failed int `json:"failed"`
}

// Counts returns c for updates.
func (c *Tally) Counts() *Tally { return c }

// Position is the place in a job from which another worker resumes.
type Position struct {
	// Page is the token of the current page, and After the last processed item on it. An index
	// would go wrong as soon as Temporal deletes a run or lists one late.
	Page  []byte `json:"page,omitempty"`
	After string `json:"after,omitzero"`
	// Tries counts the failed tries for the item after After.
	Tries int `json:"tries,omitzero"`
	// Waits is when it began to wait for its turn at a worker; zero if it does not wait.
	Waits wire.Instant `json:"waits,omitzero"`
}

// Cursor returns c for updates.
func (c *Position) Cursor() *Position { return c }

// Progress is the progress of a job, as its heartbeats carry it. Each kind embeds its counts and
// a [Position] in one struct, to store both as one object.
type Progress interface {
	Counts() *Tally
	Cursor() *Position
}
