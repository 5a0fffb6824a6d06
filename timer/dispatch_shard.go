package timer

import "strconv"

// DispatchPlan is what the shards of a dispatch go by. It is read while they run.
type DispatchPlan struct {
	// Changes counts what was changed since it was ordered.
	Changes   int      `json:"changes,omitzero"`
	PerSecond float64  `json:"per_second"`
	WarmUp    Duration `json:"warm_up,omitzero"`
	Paused    bool     `json:"paused,omitzero"`
	// Began is when it began to send, or went on after a pause.
	Began Instant `json:"began,omitzero"`
	// Active are the shards that have something to send, in order.
	Active []int `json:"active,omitempty"`
	// Quiet is whether a shard that waits for its ladder keeps its part of the rate, and says
	// nothing of it: the history of the dispatch is long, and Temporal bounds it.
	Quiet bool `json:"quiet,omitzero"`
}

// Shows is whether the plan is as a change wants it to be.
func (p DispatchPlan) Shows(c DispatchChange) bool {
	return (c.PerSecond == nil || *c.PerSecond == p.PerSecond) && (c.Paused == nil || *c.Paused == p.Paused)
}

// Of is the place of a shard among those that send; ok is false where it is none of them.
func (p DispatchPlan) Of(shard int) (place int, ok bool) {
	for i, active := range p.Active {
		if active == shard {
			return i, true
		}
	}
	return 0, false
}

// DispatchSource is where the items of a shard are: on stored pages, or asked for.
type DispatchSource struct {
	// Parts are runs of stored pages, which are numbered over all parts. The shard has
	// Items items from the one that follows Skip others on page First.
	Parts []DispatchPart `json:"parts,omitempty"`
	First int            `json:"first,omitzero"`
	Skip  int            `json:"skip,omitzero"`
	Items int            `json:"items,omitzero"`
}

// DispatchPart is a run of stored pages.
type DispatchPart struct {
	// Prefix begins the ids of its pages, and Pages is how many there are.
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

// Page is the id of one of its pages, which are numbered from 0.
func (p DispatchPart) Page(number int) string { return p.Prefix + strconv.Itoa(number) }

// DispatchLadder is the pages of a shard whose items had so many attempts, and wait for the
// next one. stored begins the ids of what the shard stores.
func DispatchLadder(stored string, attempts int) DispatchPart {
	return DispatchPart{Prefix: stored + "/retry-" + strconv.Itoa(attempts) + "/"}
}

// DispatchGivenUp is the pages of a shard whose items were given up.
func DispatchGivenUp(stored string) DispatchPart { return DispatchPart{Prefix: stored + "/failed/"} }

// DispatchSweep is what a dispatch has stored and does not need any more.
type DispatchSweep struct {
	// Delete are deleted, and Close ended: they are kept for as long as other records. A
	// part of no pages has as many as are found.
	Delete []DispatchPart `json:"delete,omitempty"`
	Close  []DispatchPart `json:"close,omitempty"`
	// Uploads begins the ids of what clients have uploaded, all of which is deleted.
	Uploads string `json:"uploads,omitzero"`
	// Yield names the dispatch where it has claimed a part of what its type may call.
	Yield        string `json:"yield,omitzero"`
	BusinessType string `json:"business_type,omitzero"`
}

// DispatchShard is the input of the workflow of a shard, and of what it executes.
type DispatchShard struct {
	DispatchID
	// Number is the shard's, from 0.
	Number int `json:"number"`
	// Stored begins the ids of what it stores.
	Stored string         `json:"stored"`
	Source DispatchSource `json:"source,omitzero"`
	// Plan is as the shard heard of it last.
	Plan  DispatchPlan  `json:"plan"`
	State DispatchState `json:"state"`
}

// DispatchState is how far a shard is. From here another worker goes on.
type DispatchState struct {
	// Page, Base and Cursor say where the next page is: its number and how many items of
	// the shard lie before it, or the loader's cursor.
	Page   int    `json:"page,omitzero"`
	Base   int    `json:"base,omitzero"`
	Cursor string `json:"cursor,omitzero"`
	// End is whether there is no next page.
	End bool `json:"end,omitzero"`
	// Open are the pages of which some items have still to be dealt with.
	Open []DispatchOpen `json:"open,omitempty"`
	// Ladder has a queue of pages for each number of attempts that their items had.
	Ladder []DispatchQueue `json:"ladder,omitempty"`
	// GivenUp is how many pages of items were given up.
	GivenUp int `json:"given_up,omitzero"`
	// Cycle finds a cursor that comes again.
	Cycle DispatchCycle `json:"cycle,omitzero"`
	DispatchCounts
	// Problem is why the shard was stopped.
	Problem *Failure `json:"problem,omitempty"`
	// LoaderTries counts the questions in a row that the loader did not answer.
	LoaderTries int `json:"loader_tries,omitzero"`
	// Sent is how many items were sent in each of the last seconds.
	Sent DispatchRecent `json:"sent,omitzero"`
	// Last is the last moment that was used.
	Last Instant `json:"last,omitzero"`
	// LagMS is by how much the shard is behind its moments, in milliseconds.
	LagMS int64 `json:"lag_ms,omitzero"`
	// Behind is since when moments pass at which it sends nothing; zero where none does.
	Behind DispatchBehind `json:"behind,omitzero"`
	// Told is when it told the dispatch last how far that is.
	Told Instant `json:"told,omitzero"`
	// Claimed is whether it has claimed a part of what its type may call.
	Claimed bool `json:"claimed,omitzero"`
	// Waits is since when it waits for its turn at a worker; zero where it does not.
	Waits Instant `json:"waits,omitzero"`
	// Try is the number of the attempt that told this as a sign of life.
	Try int32 `json:"try,omitzero"`
}

// DispatchCounts counts what became of the items of a shard.
type DispatchCounts struct {
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
func (c DispatchCounts) Add(o DispatchCounts) DispatchCounts {
	return DispatchCounts{
		Found: c.Found + o.Found, Done: c.Done + o.Done, Failed: c.Failed + o.Failed, Retrying: c.Retrying + o.Retrying,
		InFlight: c.InFlight + o.InFlight, Callbacks: c.Callbacks + o.Callbacks,
	}
}

// DispatchOpen is a page of which some items have still to be dealt with.
type DispatchOpen struct {
	// Attempts is how many its items had before: 0 for a page of the source.
	Attempts int `json:"attempts,omitzero"`
	// Page and Cursor name it, and Base is as in [DispatchState].
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

// DispatchQueue is the pages that wait for their next attempt, by number.
type DispatchQueue struct {
	Head int `json:"head,omitzero"`
	Tail int `json:"tail,omitzero"`
	// Due is when the first of them is due; zero where only the page itself tells.
	Due Instant `json:"due,omitzero"`
}

// DispatchRecent is how many items were sent in each second up to At, the last one last.
type DispatchRecent struct {
	At      int64 `json:"at,omitzero"` // Unix seconds
	Seconds []int `json:"seconds,omitempty"`
}

// DispatchCycle finds a sequence that repeats itself, with memory for one value (Brent).
type DispatchCycle struct {
	Seen  string `json:"seen,omitzero"`
	Power int    `json:"power,omitzero"`
	Steps int    `json:"steps,omitzero"`
}

// Repeats takes the next value, and reports whether it came before.
func (c *DispatchCycle) Repeats(value string) bool {
	if c.Power > 0 && value == c.Seen {
		return true
	}
	if c.Steps == c.Power {
		c.Seen, c.Power, c.Steps = value, max(2*c.Power, 1), 0
	}
	c.Steps++
	return false
}

// DispatchStint is why the executor of a shard ended, and how far it came.
type DispatchStint struct {
	State DispatchState    `json:"state"`
	End   DispatchStintEnd `json:"end"`
	// WakeAt is when the next item of the ladder is due.
	WakeAt Instant `json:"wake_at,omitzero"`
	// Plan is the one that it went by.
	Plan DispatchPlan `json:"plan"`
}

// DispatchStintEnd is why the executor of a shard ended.
type DispatchStintEnd string

// The closed list of reasons.
const (
	// StintDone: every item was dealt with.
	StintDone DispatchStintEnd = "done"
	// StintOver: another worker shall have a chance, or this one stops.
	StintOver DispatchStintEnd = "over"
	// StintPaused: the dispatch is paused.
	StintPaused DispatchStintEnd = "paused"
	// StintWaits: what is left is on the ladder, and due later.
	StintWaits DispatchStintEnd = "waits"
	// StintCancelled: somebody cancelled.
	StintCancelled DispatchStintEnd = "cancelled"
)
