package dispatch

import (
	"strconv"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Plan is what the shards of a dispatch go by. It is read while they run.
type Plan struct {
	// Changes counts what was changed since it was ordered.
	Changes   int           `json:"changes,omitzero"`
	PerSecond float64       `json:"per_second"`
	WarmUp    wire.Duration `json:"warm_up,omitzero"`
	Paused    bool          `json:"paused,omitzero"`
	// Began is when it began to send, or went on after a pause.
	Began wire.Instant `json:"began,omitzero"`
	// Active are the shards that have something to send, in order.
	Active []int `json:"active,omitempty"`
	// Quiet reports whether a shard that waits for its ladder keeps its part of the rate, and says
	// nothing of it: the history of the dispatch is long, and Temporal bounds it.
	Quiet bool `json:"quiet,omitzero"`
}

// Shows reports whether the plan is as a change wants it to be.
func (p Plan) Shows(c Change) bool {
	return (c.PerSecond == nil || *c.PerSecond == p.PerSecond) && (c.Paused == nil || *c.Paused == p.Paused)
}

// PlaceOf is the place of a shard among those that send; ok is false where it is none of them.
func (p Plan) PlaceOf(shard int) (place int, ok bool) {
	for i, active := range p.Active {
		if active == shard {
			return i, true
		}
	}
	return 0, false
}

// Source is where the items of a shard are: on stored pages, or asked for.
type Source struct {
	// Parts are runs of stored pages, which are numbered over all parts. The shard has
	// Items items from the one that follows Skip others on page First.
	Parts []Part `json:"parts,omitempty"`
	First int    `json:"first,omitzero"`
	Skip  int    `json:"skip,omitzero"`
	Items int    `json:"items,omitzero"`
}

// Part is a run of stored pages.
type Part struct {
	// Prefix begins the ids of its pages, and Pages is how many there are.
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

// Page is the id of one of its pages, which are numbered from 0.
func (p Part) Page(number int) string { return p.Prefix + strconv.Itoa(number) }

// Ladder is the pages of a shard whose items had so many attempts, and wait for the
// next one. stored begins the ids of what the shard stores.
func Ladder(stored string, attempts int) Part {
	return Part{Prefix: stored + "/retry-" + strconv.Itoa(attempts) + "/"}
}

// GivenUp is the pages of a shard whose items were given up.
func GivenUp(stored string) Part { return Part{Prefix: stored + "/failed/"} }

// Sweep is what a dispatch has stored and does not need any more.
type Sweep struct {
	// Delete are deleted, and Close ended: they are kept for as long as other records. A
	// part of no pages has as many as are found.
	Delete []Part `json:"delete,omitempty"`
	Close  []Part `json:"close,omitempty"`
	// Uploads begins the ids of what clients have uploaded, all of which is deleted.
	Uploads string `json:"uploads,omitzero"`
	// Yield names the dispatch where it has claimed a part of what its type may call.
	Yield        string `json:"yield,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
}

// Shard is the input of the workflow of a shard, and of what it executes.
type Shard struct {
	ID
	// Number is the shard's, from 0.
	Number int `json:"number"`
	// Stored begins the ids of what it stores.
	Stored string `json:"stored"`
	Source Source `json:"source,omitzero"`
	// Plan is as the shard heard of it last.
	Plan  Plan  `json:"plan"`
	State State `json:"state"`
}

// State is how far a shard is. From here another worker goes on.
type State struct {
	// Page, Base and Cursor say where the next page is: its number and how many items of
	// the shard lie before it, or the loader's cursor.
	Page   int    `json:"page,omitzero"`
	Base   int    `json:"base,omitzero"`
	Cursor string `json:"cursor,omitzero"`
	// End reports whether there is no next page.
	End bool `json:"end,omitzero"`
	// Open are the pages of which some items have still to be dealt with.
	Open []Open `json:"open,omitempty"`
	// Ladder has a queue of pages for each number of attempts that their items had.
	Ladder []Queue `json:"ladder,omitempty"`
	// GivenUp is how many pages of items were given up.
	GivenUp int `json:"given_up,omitzero"`
	// Cycle finds a cursor that comes again.
	Cycle Cycle `json:"cycle,omitzero"`
	Counts
	// Problem is why the shard was stopped.
	Problem *delivery.Failure `json:"problem,omitempty"`
	// LoaderTries counts the questions in a row that the loader did not answer.
	LoaderTries int `json:"loader_tries,omitzero"`
	// Sent is how many items were sent in each of the last seconds.
	Sent Recent `json:"sent,omitzero"`
	// Last is the last moment that was used.
	Last wire.Instant `json:"last,omitzero"`
	// LagMS is by how much the shard is behind its moments, in milliseconds.
	LagMS int64 `json:"lag_ms,omitzero"`
	// Behind is since when moments pass at which it sends nothing; zero where none does.
	Behind Behind `json:"behind,omitzero"`
	// Told is when it told the dispatch last how far that is.
	Told wire.Instant `json:"told,omitzero"`
	// Claimed reports whether it has claimed a part of what its type may call.
	Claimed bool `json:"claimed,omitzero"`
	// Waits is since when it waits for its turn at a worker; zero where it does not.
	Waits wire.Instant `json:"waits,omitzero"`
	// Try is the number of the attempt that told this as a sign of life.
	Try int32 `json:"try,omitzero"`
}

// Counts counts what became of the items of a shard.
type Counts struct {
	// Found counts the items that were read.
	Found int `json:"found,omitzero"`
	Done  int `json:"done,omitzero"`
	// Failed counts the items that were given up.
	Failed int `json:"failed,omitzero"`
	// Retrying counts those that wait for another attempt, and InFlight those of which
	// one is under way.
	Retrying int `json:"retrying,omitzero"`
	InFlight int `json:"in_flight,omitzero"`
	// Callbacks counts the attempts, as far as their end was recorded.
	Callbacks int `json:"callbacks,omitzero"`
}

// Add is the sum of two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{
		Found: c.Found + o.Found, Done: c.Done + o.Done, Failed: c.Failed + o.Failed, Retrying: c.Retrying + o.Retrying,
		InFlight: c.InFlight + o.InFlight, Callbacks: c.Callbacks + o.Callbacks,
	}
}

// Open is a page of which some items have still to be dealt with.
type Open struct {
	// Attempts is how many its items had before: 0 for a page of the source.
	Attempts int `json:"attempts,omitzero"`
	// Page and Cursor name it, and Base is as in [State].
	Page   int    `json:"page,omitzero"`
	Base   int    `json:"base,omitzero"`
	Cursor string `json:"cursor,omitzero"`
	// Size is how many items it has; what is read again and is another page by its Sum is
	// gone through as a whole.
	Size int    `json:"size"`
	Sum  uint64 `json:"sum,omitzero"`
	// Next is the first item that has still to be dealt with, and Ahead a bit for each of
	// those behind it, set where it was dealt with.
	Next  int    `json:"next,omitzero"`
	Ahead []byte `json:"ahead,omitempty"`
}

// Queue is the pages that wait for their next attempt, by number.
type Queue struct {
	Head int `json:"head,omitzero"`
	Tail int `json:"tail,omitzero"`
	// Due is when the first of them is due; zero where only the page itself tells.
	Due wire.Instant `json:"due,omitzero"`
}

// Recent is how many items were sent in each second up to At, the last one last.
type Recent struct {
	At      int64 `json:"at,omitzero"` // Unix seconds
	Seconds []int `json:"seconds,omitempty"`
}

// Cycle finds a sequence that repeats itself, with memory for one value (Brent).
type Cycle struct {
	Seen  string `json:"seen,omitzero"`
	Power int    `json:"power,omitzero"`
	Steps int    `json:"steps,omitzero"`
}

// Repeats takes the next value, and reports whether it came before.
func (c *Cycle) Repeats(value string) bool {
	if c.Power > 0 && value == c.Seen {
		return true
	}
	if c.Steps == c.Power {
		c.Seen, c.Power, c.Steps = value, max(2*c.Power, 1), 0
	}
	c.Steps++
	return false
}

// Stint is why the executor of a shard ended, and how far it came.
type Stint struct {
	State State    `json:"state"`
	End   StintEnd `json:"end"`
	// WakeAt is when the next item of the ladder is due.
	WakeAt wire.Instant `json:"wake_at,omitzero"`
	// Plan is the one that it went by.
	Plan Plan `json:"plan"`
}

// StintEnd is why the executor of a shard ended.
type StintEnd string

// The closed list of reasons.
const (
	// StintDone: every item was dealt with.
	StintDone StintEnd = "done"
	// StintOver: another worker shall have a chance, or this one stops.
	StintOver StintEnd = "over"
	// StintPaused: the dispatch is paused.
	StintPaused StintEnd = "paused"
	// StintWaits: what is left is on the ladder, and due later.
	StintWaits StintEnd = "waits"
	// StintCancelled: somebody cancelled.
	StintCancelled StintEnd = "cancelled"
)
