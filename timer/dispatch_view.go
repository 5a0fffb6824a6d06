package timer

import "time"

// DispatchStatus is where a dispatch stands.
type DispatchStatus string

// The life of a dispatch.
const (
	// DispatchUploading: its items are being stored; nothing starts before all are.
	DispatchUploading DispatchStatus = "uploading"
	// DispatchScheduled: it waits for its due time.
	DispatchScheduled DispatchStatus = "scheduled"
	DispatchRunning   DispatchStatus = "running"
	DispatchPaused    DispatchStatus = "paused"
	// DispatchDone: every item was taken.
	DispatchDone DispatchStatus = "done"
	// DispatchDoneWithFailures: every item was dealt with, and some were given up. It is not
	// stored: what is says [DispatchDone] and counts the failures.
	DispatchDoneWithFailures DispatchStatus = "done_with_failures"
	// DispatchFailed: a loader did not answer, so some shard is not complete; or an upload
	// was never completed.
	DispatchFailed DispatchStatus = "failed"
	// DispatchExpired: its latest time came first.
	DispatchExpired DispatchStatus = "expired"
	// DispatchCancelled: cancelled or terminated by anybody.
	DispatchCancelled DispatchStatus = "cancelled"
)

// DispatchStatuses lists every status, in the order of a dispatch's life.
func DispatchStatuses() []DispatchStatus {
	return []DispatchStatus{
		DispatchUploading, DispatchScheduled, DispatchRunning, DispatchPaused,
		DispatchDone, DispatchDoneWithFailures, DispatchFailed, DispatchExpired, DispatchCancelled,
	}
}

// With is the status of a dispatch of which so many items were given up.
func (s DispatchStatus) With(failed int) DispatchStatus {
	if s == DispatchDone && failed > 0 {
		return DispatchDoneWithFailures
	}
	return s
}

// Finished reports whether nothing is sent any more.
func (s DispatchStatus) Finished() bool {
	switch s {
	case DispatchDone, DispatchDoneWithFailures, DispatchFailed, DispatchExpired, DispatchCancelled:
		return true
	default:
		return false
	}
}

// DispatchMemo is what a dispatch says of itself, readable without a worker.
type DispatchMemo struct {
	Order       Dispatch       `json:"order"`
	Fingerprint string         `json:"fingerprint"`
	CreatedAt   Instant        `json:"created_at,omitzero"`
	Status      DispatchStatus `json:"status"`
	DueAt       Instant        `json:"due_at,omitzero"`
	Occurrence  int            `json:"occurrence,omitzero"`
	StartedAt   Instant        `json:"started_at,omitzero"`
	FinishedAt  Instant        `json:"finished_at,omitzero"`
	Plan        DispatchPlan   `json:"plan"`
	// SentFor is for how long it has sent before it was paused last, without the pauses before,
	// and HeldAt when it sent last where it is paused.
	SentFor Duration `json:"sent_for,omitzero"`
	HeldAt  Instant  `json:"held_at,omitzero"`
	// Behind is what it was short of to its end; zero for nothing.
	Behind DispatchBehind `json:"behind,omitzero"`
	// Run names what was ordered: an id may be used again.
	Run string `json:"run,omitzero"`
	// Items is how many there are; nil while that is unknown.
	Items *int `json:"items,omitempty"`
	// Upload names the upload that stored them.
	Upload string `json:"upload,omitzero"`
	// Shards is how many there are once it has begun.
	Shards int `json:"shards,omitzero"`
	// Total is what became of the items once it has ended.
	Total *DispatchCounts `json:"total,omitempty"`
	// Before is what became of items before failed ones were tried again.
	Before DispatchCounts `json:"before,omitzero"`
	// Failed names the pages of items that were given up, once it has ended. While they are
	// tried again it still does: somebody may terminate that.
	Failed []DispatchPart `json:"failed,omitempty"`
	// Stopped are the shards that are not complete, once it has ended. They stay so where
	// failed items are tried again.
	Stopped []DispatchShardView `json:"stopped,omitempty"`
	// Last is how the occurrence before ended.
	Last *DispatchOccurrence `json:"last,omitempty"`
	// Cursor is where a recurring one stands.
	Cursor Cursor `json:"cursor,omitzero"`
	// Round counts how often failed items were tried again, and Retried is how many are.
	Round   int `json:"round,omitzero"`
	Retried int `json:"retried,omitzero"`
}

// Life is how long what a dispatch stores is kept at most: a dispatch that somebody
// terminates cannot clear it away.
func (m DispatchMemo) Life(now time.Time) time.Duration {
	if m.Order.Recurrence != nil {
		return MaxAhead
	}
	return max(m.DueAt.Until(now), 0) + MaxDispatchLife
}

// ID names the present occurrence.
func (m DispatchMemo) ID() DispatchID { return DispatchID{Key: m.Order.Key, Occurrence: m.Occurrence} }

// HeaderExpectedRate names, in the answer to an order, the rate that the dispatch will
// probably come to, where that is below its own.
const HeaderExpectedRate = "Wakecall-Expected-Rate"

// DispatchView is what a reader is shown of a dispatch.
type DispatchView struct {
	Key
	Status DispatchStatus `json:"status"`
	// CancelRequested is whether a cancel is durable that no worker has carried out yet.
	CancelRequested bool `json:"cancel_requested,omitzero"`
	// Wait is what it waits for where it has begun and no shard of it sends.
	Wait
	PerSecond float64 `json:"per_second"`
	Effective float64 `json:"effective_per_second"`
	// Expected is the rate that it will probably come to, where the workers have not shown
	// that they send as many; zero for its own.
	Expected float64 `json:"expected_per_second,omitzero"`
	// BehindSince and BehindWhy are since when it is below its rate, and what it is short of; of
	// one that has ended, to its end.
	BehindSince  Instant             `json:"behind_since,omitzero"`
	BehindWhy    Shortage            `json:"behind_why,omitzero"`
	DueAt        Instant             `json:"due_at,omitzero"`
	LatestAt     Instant             `json:"latest_at,omitzero"`
	WarmUp       Duration            `json:"warm_up,omitzero"`
	Per          DispatchPer         `json:"callback_per"`
	PageSize     int                 `json:"page_size,omitzero"`
	Loader       *DispatchLoader     `json:"loader,omitempty"`
	Recurrence   *Recurrence         `json:"recurrence,omitempty"`
	Occurrence   int                 `json:"occurrence,omitzero"`
	Last         *DispatchEnd        `json:"last_occurrence,omitempty"`
	Items        *int                `json:"items"`
	Uploaded     int                 `json:"uploaded,omitzero"`
	Done         int                 `json:"done"`
	Failed       int                 `json:"failed"`
	Retrying     int                 `json:"retrying"`
	InFlight     int                 `json:"in_flight"`
	Rest         *int                `json:"rest"`
	Callbacks    int                 `json:"callbacks"`
	Achieved     DispatchRates       `json:"achieved"`
	EstimatedEnd Instant             `json:"estimated_end,omitzero"`
	CreatedAt    Instant             `json:"created_at"`
	StartedAt    Instant             `json:"started_at,omitzero"`
	FinishedAt   Instant             `json:"finished_at,omitzero"`
	Shards       []DispatchShardView `json:"shards,omitempty"`
	Links        Links               `json:"links"`
	Memo         DispatchMemo        `json:"-"`
	// Events is how many events its run has in Temporal's history, which is bounded.
	Events int64 `json:"-"`
}

// DispatchRates are items a second that were sent.
type DispatchRates struct {
	LastSecond    float64 `json:"last_second"`
	Last10Seconds float64 `json:"last_10_seconds"`
	Whole         float64 `json:"whole"`
}

// DispatchShardView is what a reader is shown of a shard.
type DispatchShardView struct {
	Shard    int      `json:"shard"`
	Status   string   `json:"status"`
	WaitsFor Waiting  `json:"waits_for,omitzero"`
	Items    int      `json:"items,omitzero"`
	Done     int      `json:"done"`
	Failed   int      `json:"failed"`
	Retrying int      `json:"retrying"`
	InFlight int      `json:"in_flight"`
	LagMS    int64    `json:"lag_ms"`
	Problem  *Failure `json:"problem,omitempty"`
}
