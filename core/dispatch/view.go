package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Status is the state of a dispatch.
type Status string

// The life of a dispatch.
const (
	// Uploading: its items are being stored. It starts after the last one.
	Uploading Status = "uploading"
	// Scheduled: it waits for its due time.
	Scheduled Status = "scheduled"
	Running   Status = "running"
	Paused    Status = "paused"
	// Done: every item was accepted.
	Done Status = "done"
	// DoneWithFailures: every item was processed, and some were given up. It is not stored: the
	// stored status is [Done], with a count of failures.
	DoneWithFailures Status = "done_with_failures"
	// Failed: a loader did not answer, so that some shard is incomplete; or an upload was never
	// completed.
	Failed Status = "failed"
	// Expired: its latest time came first.
	Expired Status = "expired"
	// Cancelled: a caller cancelled or terminated it.
	Cancelled Status = "cancelled"
)

// Statuses lists every status, in the order of a dispatch's life.
func Statuses() []Status {
	return []Status{
		Uploading, Scheduled, Running, Paused,
		Done, DoneWithFailures, Failed, Expired, Cancelled,
	}
}

// With returns the status of a dispatch with so many items given up.
func (s Status) With(failed int) Status {
	if s == Done && failed > 0 {
		return DoneWithFailures
	}
	return s
}

// Finished reports whether nothing more is sent.
func (s Status) Finished() bool {
	switch s {
	case Done, DoneWithFailures, Failed, Expired, Cancelled:
		return true
	default:
		return false
	}
}

// Memo is the state of a dispatch, readable without a worker.
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
	// SentFor is how long it sent before its last pause, without earlier pauses. HeldAt is when
	// it last sent, if it is paused.
	SentFor wire.Duration `json:"sent_for,omitzero"`
	HeldAt  wire.Instant  `json:"held_at,omitzero"`
	// Behind is its shortage at its end; zero for none.
	Behind Behind `json:"behind,omitzero"`
	// Run names the order, since an id may be used again.
	Run string `json:"run,omitzero"`
	// PagesOfRun reports whether the ids of the pages of its shards hold Run. Those of an order of an
	// earlier version do not.
	PagesOfRun bool `json:"pages_of_run,omitzero"`
	// Items is the number of items; nil while unknown.
	Items *int `json:"items,omitempty"`
	// Upload names the upload that stored them.
	Upload string `json:"upload,omitzero"`
	// Shards is the number of shards, after the start.
	Shards int `json:"shards,omitzero"`
	// Total counts the outcomes, after the end.
	Total *Counts `json:"total,omitempty"`
	// Before counts the outcomes before failed items were tried again.
	Before Counts `json:"before,omitzero"`
	// Failed are the pages of items given up, after the end. It remains during a retry of them,
	// which may be terminated.
	Failed []Part `json:"failed,omitempty"`
	// Stopped are the incomplete shards, after the end. They remain during a retry of failed
	// items.
	Stopped []ShardView `json:"stopped,omitempty"`
	// Last is the end of the occurrence before.
	Last *Occurrence `json:"last,omitempty"`
	// Cursor is the position of a recurring dispatch.
	Cursor recurrence.Cursor `json:"cursor,omitzero"`
	// Round counts the retries of failed items, and Retried the items of the present one.
	Round   int `json:"round,omitzero"`
	Retried int `json:"retried,omitzero"`
}

// Life returns how long the stored objects of a dispatch live at most, because a terminated
// dispatch cannot clear them away.
func (m Memo) Life(now time.Time) time.Duration {
	if m.Order.Recurrence != nil {
		return wire.MaxAhead
	}
	return max(m.DueAt.Until(now), 0) + MaxLife
}

// ID names the present occurrence.
func (m Memo) ID() ID { return ID{Key: m.Order.Key, Occurrence: m.Occurrence} }

// HeaderExpectedRate is a header of the answer to an order. It gives the expected rate of the
// dispatch, if that is below its own.
const HeaderExpectedRate = "Wakecall-Expected-Rate"

// View is a dispatch as readers see it.
type View struct {
	wire.Key
	Status Status `json:"status"`
	// CancelRequested reports whether a durable cancel waits for a worker.
	CancelRequested bool `json:"cancel_requested,omitzero"`
	// Wait is its wait, if it has begun and no shard sends.
	delivery.Wait
	PerSecond float64 `json:"per_second"`
	Effective float64 `json:"effective_per_second"`
	// Expected is the expected rate, if the workers have not proved that they can send more;
	// zero for its own.
	Expected float64 `json:"expected_per_second,omitzero"`
	// BehindSince is since when it is below its rate, and BehindWhy the reason. An ended
	// dispatch has the shortage at its end.
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
	// Events is the number of events in the history of its run, which Temporal bounds.
	Events int64 `json:"-"`
}

// StateOf returns the dispatch that is the reason for a refusal; nil for another reason.
func StateOf(e *wire.Error) *View {
	view, _ := e.State.(*View)
	return view
}

// Rates are items sent per second.
type Rates struct {
	LastSecond    float64 `json:"last_second"`
	Last10Seconds float64 `json:"last_10_seconds"`
	Whole         float64 `json:"whole"`
}

// ShardView is a shard as readers see it.
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
