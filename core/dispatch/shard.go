package dispatch

import (
	"strconv"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Plan is the part of a dispatch that its shards follow. It is read while they run.
type Plan struct {
	// Changes counts the changes since the order.
	Changes   int           `json:"changes,omitzero"`
	PerSecond float64       `json:"per_second"`
	WarmUp    wire.Duration `json:"warm_up,omitzero"`
	Paused    bool          `json:"paused,omitzero"`
	// Began is when it began to send, or resumed after a pause.
	Began wire.Instant `json:"began,omitzero"`
	// Active lists the shards that have something to send, in order.
	Active []int `json:"active,omitempty"`
	// Quiet reports whether a shard that waits for its ladder keeps its part of the rate without
	// a report. It is set when the history of the dispatch is long, because Temporal bounds it.
	Quiet bool `json:"quiet,omitzero"`
}

// Shows reports whether the plan already has a change.
func (p Plan) Shows(c Change) bool {
	return (c.PerSecond == nil || *c.PerSecond == p.PerSecond) && (c.Paused == nil || *c.Paused == p.Paused)
}

// PlaceOf returns the index of a shard among those that send; ok is false if it does not send.
func (p Plan) PlaceOf(shard int) (place int, ok bool) {
	for i, active := range p.Active {
		if active == shard {
			return i, true
		}
	}
	return 0, false
}

// Source is where a shard finds its items: on stored pages, or at a loader.
type Source struct {
	// Parts are runs of stored pages, numbered across all parts. The shard has Items items,
	// after the first Skip items on page First.
	Parts []Part `json:"parts,omitempty"`
	First int    `json:"first,omitzero"`
	Skip  int    `json:"skip,omitzero"`
	Items int    `json:"items,omitzero"`
}

// Part is a run of stored pages.
type Part struct {
	// Prefix begins the ids of its pages, and Pages is their number.
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

// Page returns the id of one of its pages, numbered from 0.
func (p Part) Page(number int) string { return p.Prefix + strconv.Itoa(number) }

// Ladder returns the pages of a shard whose items had so many attempts and wait for the next
// one. stored begins the ids of the shard's pages.
func Ladder(stored string, attempts int) Part {
	return Part{Prefix: stored + "/retry-" + strconv.Itoa(attempts) + "/"}
}

// GivenUp returns the pages of a shard whose items were given up.
func GivenUp(stored string) Part { return Part{Prefix: stored + "/failed/"} }

// Cleanup lists stored objects that a dispatch no longer needs.
type Cleanup struct {
	// Delete lists pages to delete. Close lists pages to end, which are retained like other
	// records. A part with no pages means all pages found.
	Delete []Part `json:"delete,omitempty"`
	Close  []Part `json:"close,omitempty"`
	// Uploads begins the ids of the client's uploads, to be deleted.
	Uploads string `json:"uploads,omitzero"`
	// Yield names the dispatch if it has claimed a part of its type's rate.
	Yield        string `json:"yield,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
}

// Shard is the input of the workflow of a shard, and of its executor.
type Shard struct {
	ID
	// Number is the index of the shard, from 0.
	Number int `json:"number"`
	// Stored begins the ids of its pages.
	Stored string `json:"stored"`
	Source Source `json:"source,omitzero"`
	// Plan is the latest plan known to the shard.
	Plan  Plan  `json:"plan"`
	State State `json:"state"`
}

// State is the progress of a shard. Another worker resumes from it.
type State struct {
	// Page, Base and Cursor locate the next page: its number and the items of the shard before
	// it, or the loader's cursor.
	Page   int    `json:"page,omitzero"`
	Base   int    `json:"base,omitzero"`
	Cursor string `json:"cursor,omitzero"`
	// End reports whether there is no next page.
	End bool `json:"end,omitzero"`
	// Open are the pages with unfinished items.
	Open []Open `json:"open,omitempty"`
	// Ladder has a queue of pages for each number of attempts made.
	Ladder []Queue `json:"ladder,omitempty"`
	// GivenUp is the number of pages of items given up.
	GivenUp int `json:"given_up,omitzero"`
	// Cycle detects a repeated cursor.
	Cycle Cycle `json:"cycle,omitzero"`
	Counts
	// Problem is why the shard was stopped.
	Problem *delivery.Failure `json:"problem,omitempty"`
	// LoaderTries counts the failed requests to the loader in a row.
	LoaderTries int `json:"loader_tries,omitzero"`
	// Sent is the number of items sent in each of the last seconds.
	Sent Recent `json:"sent,omitzero"`
	// Last is the last used moment.
	Last wire.Instant `json:"last,omitzero"`
	// LagMS is how far the shard is behind its moments, in milliseconds.
	LagMS int64 `json:"lag_ms,omitzero"`
	// Behind is when the shard began to miss moments; zero if it misses none.
	Behind Behind `json:"behind,omitzero"`
	// Told is when it last sent its progress to the dispatch.
	Told wire.Instant `json:"told,omitzero"`
	// Claimed reports whether it has claimed a part of its type's rate.
	Claimed bool `json:"claimed,omitzero"`
	// Waits is when it began to wait for its turn at a worker; zero if it does not wait.
	Waits wire.Instant `json:"waits,omitzero"`
	// Try is the number of the attempt that sent this heartbeat.
	Try int32 `json:"try,omitzero"`
}

// Counts counts the outcomes of the items of a shard.
type Counts struct {
	// Found counts the items read.
	Found int `json:"found,omitzero"`
	Done  int `json:"done,omitzero"`
	// Failed counts the items given up.
	Failed int `json:"failed,omitzero"`
	// Retrying counts the items that wait for another attempt. InFlight counts those with an
	// attempt in progress.
	Retrying int `json:"retrying,omitzero"`
	InFlight int `json:"in_flight,omitzero"`
	// Callbacks counts the attempts whose end was recorded.
	Callbacks int `json:"callbacks,omitzero"`
}

// Add returns the sum of two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{
		Found: c.Found + o.Found, Done: c.Done + o.Done, Failed: c.Failed + o.Failed, Retrying: c.Retrying + o.Retrying,
		InFlight: c.InFlight + o.InFlight, Callbacks: c.Callbacks + o.Callbacks,
	}
}

// Open is a page with unfinished items.
type Open struct {
	// Attempts is the number of earlier attempts: 0 for a page of the source.
	Attempts int `json:"attempts,omitzero"`
	// Page and Cursor identify it, and Base is as in [State].
	Page   int    `json:"page,omitzero"`
	Base   int    `json:"base,omitzero"`
	Cursor string `json:"cursor,omitzero"`
	// Size is the number of its items. If a page read again has another Sum, all its items are
	// processed.
	Size int    `json:"size"`
	Sum  uint64 `json:"sum,omitzero"`
	// Next is the first unfinished item. Ahead has a bit for each item after it, set if it is
	// finished.
	Next  int    `json:"next,omitzero"`
	Ahead []byte `json:"ahead,omitempty"`
}

// Queue is the range of pages that wait for their next attempt, by number.
type Queue struct {
	Head int `json:"head,omitzero"`
	Tail int `json:"tail,omitzero"`
	// Due is when the first of them is due; zero if only the page has it.
	Due wire.Instant `json:"due,omitzero"`
}

// Recent is the number of items sent in each second up to At, in order.
type Recent struct {
	At      int64 `json:"at,omitzero"` // Unix seconds
	Seconds []int `json:"seconds,omitempty"`
}

// Cycle detects a sequence that repeats itself, with memory for one value (Brent).
type Cycle struct {
	Seen  string `json:"seen,omitzero"`
	Power int    `json:"power,omitzero"`
	Steps int    `json:"steps,omitzero"`
}

// Repeats adds the next value, and reports whether it came before.
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

// ShardRunResult is the result of an executor of a shard.
type ShardRunResult struct {
	State State       `json:"state"`
	End   ShardRunEnd `json:"end"`
	// WakeAt is when the next item of the ladder is due.
	WakeAt wire.Instant `json:"wake_at,omitzero"`
	// Plan is the plan that the executor followed.
	Plan Plan `json:"plan"`
}

// ShardRunEnd is why the executor of a shard ended.
type ShardRunEnd string

// The closed list of reasons.
const (
	// RunDone: every item was processed.
	RunDone ShardRunEnd = "done"
	// RunYielded: it makes room for other work, or the worker stops.
	RunYielded ShardRunEnd = "over"
	// RunPaused: the dispatch is paused.
	RunPaused ShardRunEnd = "paused"
	// RunWaits: the remaining items are on the ladder, and due later.
	RunWaits ShardRunEnd = "waits"
	// RunCancelled: the dispatch was cancelled.
	RunCancelled ShardRunEnd = "cancelled"
)
