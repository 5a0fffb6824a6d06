package job

import "github.com/wakecall/wakecall/core/wire"

// A job is work on many items, ordered once and carried out page by page at a bounded
// rate, by whichever worker is there. This is what jobs of all kinds have in common.

// Status is where a job stands.
type Status string

// The life of a job: running, then one of the three ends.
const (
	// Running: there are items left, or nobody has begun.
	Running Status = "running"
	// Done: every item was dealt with.
	Done Status = "done"
	// Stopped: stopped by anybody.
	Stopped Status = "stopped"
	// Failed: it could not go on.
	Failed Status = "failed"
)

// Statuses lists every status, in the order of a job's life.
func Statuses() []Status { return []Status{Running, Done, Stopped, Failed} }

// Tally counts what became of the items of a job. A kind of job may store and show
// them under names of its own, by a type with the same fields.
type Tally struct {
	// Found counts the items that there are; nil while nobody has counted them.
	Found *int `json:"found"`
	// Done counts those that were dealt with as ordered.
	Done int `json:"done"`
	// Skipped counts those that were not any more what was ordered.
	Skipped int `json:"skipped"`
	// Failed counts those that could not be dealt with.
	Failed int `json:"failed"`
}

// Counts returns the counts, to be counted up.
func (c *Tally) Counts() *Tally { return c }

// Position is where a job is: from here another worker goes on.
type Position struct {
	// Page is the token of the page that is worked on, and After the item on it
	// that was dealt with last. An index would be wrong as soon as Temporal
	// forgets a run or hears of one late.
	Page  []byte `json:"page,omitempty"`
	After string `json:"after,omitzero"`
	// Tries counts what was tried in vain for the item behind After.
	Tries int `json:"tries,omitzero"`
	// Waits is since when it waits for its turn at a worker; zero where it does not.
	Waits wire.Instant `json:"waits,omitzero"`
}

// Cursor returns the cursor, to be moved.
func (c *Position) Cursor() *Position { return c }

// Progress is how far a job has come: what its heartbeats tell. A kind's is a struct
// that embeds its counts and a [Position], so that both are stored as one object.
type Progress interface {
	Counts() *Tally
	Cursor() *Position
}
