package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Status is where a dispatch stands.
type Status string

// The life of a dispatch.
const (
	// Uploading: its items are being stored; nothing starts before all are.
	Uploading Status = "uploading"
	// Scheduled: it waits for its due time.
	Scheduled Status = "scheduled"
	Running   Status = "running"
	Paused    Status = "paused"
	// Done: every item was taken.
	Done Status = "done"
	// DoneWithFailures: every item was dealt with, and some were given up. It is not
	// stored: what is says [Done] and counts the failures.
	DoneWithFailures Status = "done_with_failures"
	// Failed: a loader did not answer, so some shard is not complete; or an upload
	// was never completed.
	Failed Status = "failed"
	// Expired: its latest time came first.
	Expired Status = "expired"
	// Cancelled: cancelled or terminated by anybody.
	Cancelled Status = "cancelled"
)

// Statuses lists every status, in the order of a dispatch's life.
func Statuses() []Status {
	return []Status{
		Uploading, Scheduled, Running, Paused,
		Done, DoneWithFailures, Failed, Expired, Cancelled,
	}
}

// With is the status of a dispatch of which so many items were given up.
func (s Status) With(failed int) Status {
	if s == Done && failed > 0 {
		return DoneWithFailures
	}
	return s
}

// Finished reports whether nothing is sent any more.
func (s Status) Finished() bool {
	switch s {
	case Done, DoneWithFailures, Failed, Expired, Cancelled:
		return true
	default:
		return false
	}
}

// Memo is what a dispatch says of itself, readable without a worker.
type Memo struct {
	Order       Dispatch     `json:"order"`
	Fingerprint string       `json:"fingerprint"`
	CreatedAt   wire.Instant `json:"created_at,omitzero"`
	Status      Status       `json:"status"`
	DueAt       wire.Instant `json:"due_at,omitzero"`
	Occurrence  int          `json:"occurrence,omitzero"`
	StartedAt   wire.Instant `json:"started_at,omitzero"`
	FinishedAt  wire.Instant `json:"finished_at,omitzero"`
	Plan        Plan         `json:"plan"`
	// SentFor is for how long it has sent before it was paused last, without the pauses before,
	// and HeldAt when it sent last where it is paused.
	SentFor wire.Duration `json:"sent_for,omitzero"`
	HeldAt  wire.Instant  `json:"held_at,omitzero"`
	// Behind is what it was short of to its end; zero for nothing.
	Behind Behind `json:"behind,omitzero"`
	// Run names what was ordered: an id may be used again.
	Run string `json:"run,omitzero"`
	// Items is how many there are; nil while that is unknown.
	Items *int `json:"items,omitempty"`
	// Upload names the upload that stored them.
	Upload string `json:"upload,omitzero"`
	// Shards is how many there are once it has begun.
	Shards int `json:"shards,omitzero"`
	// Total is what became of the items once it has ended.
	Total *Counts `json:"total,omitempty"`
	// Before is what became of items before failed ones were tried again.
	Before Counts `json:"before,omitzero"`
	// Failed names the pages of items that were given up, once it has ended. While they are
	// tried again it still does: somebody may terminate that.
	Failed []Part `json:"failed,omitempty"`
	// Stopped are the shards that are not complete, once it has ended. They stay so where
	// failed items are tried again.
	Stopped []ShardView `json:"stopped,omitempty"`
	// Last is how the occurrence before ended.
	Last *Occurrence `json:"last,omitempty"`
	// Cursor is where a recurring one stands.
	Cursor recurrence.Cursor `json:"cursor,omitzero"`
	// Round counts how often failed items were tried again, and Retried is how many are.
	Round   int `json:"round,omitzero"`
	Retried int `json:"retried,omitzero"`
}

// Life is how long what a dispatch stores is kept at most: a dispatch that somebody
// terminates cannot clear it away.
func (m Memo) Life(now time.Time) time.Duration {
	if m.Order.Recurrence != nil {
		return wire.MaxAhead
	}
	return max(m.DueAt.Until(now), 0) + MaxLife
}

// ID names the present occurrence.
func (m Memo) ID() ID { return ID{Key: m.Order.Key, Occurrence: m.Occurrence} }

// HeaderExpectedRate names, in the answer to an order, the rate that the dispatch will
// probably come to, where that is below its own.
const HeaderExpectedRate = "Wakecall-Expected-Rate"

// View is what a reader is shown of a dispatch.
type View struct {
	wire.Key
	Status Status `json:"status"`
	// CancelRequested reports whether a cancel is durable that no worker has carried out yet.
	CancelRequested bool `json:"cancel_requested,omitzero"`
	// Wait is what it waits for where it has begun and no shard of it sends.
	delivery.Wait
	PerSecond float64 `json:"per_second"`
	Effective float64 `json:"effective_per_second"`
	// Expected is the rate that it will probably come to, where the workers have not shown
	// that they send as many; zero for its own.
	Expected float64 `json:"expected_per_second,omitzero"`
	// BehindSince and BehindWhy are since when it is below its rate, and what it is short of; of
	// one that has ended, to its end.
	BehindSince  wire.Instant     `json:"behind_since,omitzero"`
	BehindWhy    Shortage         `json:"behind_why,omitzero"`
	DueAt        wire.Instant     `json:"due_at,omitzero"`
	LatestAt     wire.Instant     `json:"latest_at,omitzero"`
	WarmUp       wire.Duration    `json:"warm_up,omitzero"`
	Per          Per              `json:"callback_per"`
	PageSize     int              `json:"page_size,omitzero"`
	Loader       *Loader          `json:"loader,omitempty"`
	Recurrence   *recurrence.Rule `json:"recurrence,omitempty"`
	Occurrence   int              `json:"occurrence,omitzero"`
	Last         *End             `json:"last_occurrence,omitempty"`
	Items        *int             `json:"items"`
	Uploaded     int              `json:"uploaded,omitzero"`
	Done         int              `json:"done"`
	Failed       int              `json:"failed"`
	Retrying     int              `json:"retrying"`
	InFlight     int              `json:"in_flight"`
	Rest         *int             `json:"rest"`
	Callbacks    int              `json:"callbacks"`
	Achieved     Rates            `json:"achieved"`
	EstimatedEnd wire.Instant     `json:"estimated_end,omitzero"`
	CreatedAt    wire.Instant     `json:"created_at"`
	StartedAt    wire.Instant     `json:"started_at,omitzero"`
	FinishedAt   wire.Instant     `json:"finished_at,omitzero"`
	Shards       []ShardView      `json:"shards,omitempty"`
	Links        timer.Links      `json:"links"`
	Memo         Memo             `json:"-"`
	// Events is how many events its run has in Temporal's history, which is bounded.
	Events int64 `json:"-"`
}

// StateOf is the dispatch that is the reason for a refusal; nil where it is another one.
func StateOf(e *wire.Error) *View {
	view, _ := e.State.(*View)
	return view
}

// Rates are items a second that were sent.
type Rates struct {
	LastSecond    float64 `json:"last_second"`
	Last10Seconds float64 `json:"last_10_seconds"`
	Whole         float64 `json:"whole"`
}

// ShardView is what a reader is shown of a shard.
type ShardView struct {
	Shard    int               `json:"shard"`
	Status   string            `json:"status"`
	WaitsFor delivery.Waiting  `json:"waits_for,omitzero"`
	Items    int               `json:"items,omitzero"`
	Done     int               `json:"done"`
	Failed   int               `json:"failed"`
	Retrying int               `json:"retrying"`
	InFlight int               `json:"in_flight"`
	LagMS    int64             `json:"lag_ms"`
	Problem  *delivery.Failure `json:"problem,omitempty"`
}
