package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Result is the outcome of one attempt.
type Result string

// The closed list of results.
const (
	// ResultDelivered: the receiver took it.
	ResultDelivered Result = "delivered"
	// ResultAccepted: the receiver took it, and acknowledges it later.
	ResultAccepted Result = "accepted"
	// ResultRetry: another attempt follows after RetryIn.
	ResultRetry Result = "retry"
	// ResultFailed: no attempt follows; see Failure.
	ResultFailed Result = "failed"
	// ResultExpired: the latest time had passed.
	ResultExpired Result = "expired"
	// ResultUseQueue: no attempt was made; an activity on the queue must make it.
	ResultUseQueue Result = "aside"
	// ResultInterrupted: a cancel or a change came before the attempt.
	ResultInterrupted Result = "interrupted"
	// ResultWorkerStopping: the worker stops, and another one must make the attempt.
	ResultWorkerStopping Result = "handed_back"
	// ResultRejected: the worker has no room for another preloaded timer. The timer returns when
	// it is due.
	ResultRejected Result = "crowded_out"
	// ResultElsewhere: another worker began the attempt, and knows the outcome.
	ResultElsewhere Result = "elsewhere"
)

// Final reports whether the result ends the delivery.
func (r Result) Final() bool {
	return r == ResultDelivered || r == ResultFailed || r == ResultExpired
}

// Released reports whether the worker gave up the timer before its first attempt. The timer then
// waits as before.
func (r Result) Released() bool {
	return r == ResultInterrupted || r == ResultWorkerStopping || r == ResultRejected
}

// Report is the record of one attempt.
type Report struct {
	Result  Result `json:"result"`
	Attempt int    `json:"attempt"`
	// SentAt is when the first byte left; zero if nothing was sent.
	SentAt wire.Instant `json:"sent_at,omitzero"`
	// LatenessMS is the lateness of the delivery: first byte of its first attempt, minus the due
	// time. It is nil while nothing was sent.
	LatenessMS *int64 `json:"lateness_ms,omitempty"`
	// EndedAt is when the attempt ended.
	EndedAt wire.Instant  `json:"ended_at,omitzero"`
	RetryIn wire.Duration `json:"retry_in,omitzero"`
	// Waits is the reason for RetryIn, if it is not a step of the ladder.
	Waits Waiting `json:"waits,omitzero"`
	// Failure is why it did not deliver. An accepted attempt has the failure of the attempt
	// before it.
	Failure       *Failure `json:"failure,omitempty"`
	PolicyVersion int      `json:"policy_version,omitzero"`
	// Timeout is the attempt timeout in force.
	Timeout wire.Duration `json:"timeout,omitzero"`
	// Skipped counts the tries without a call since the last attempt.
	Skipped int `json:"skipped,omitzero"`
	// Latest is the time after which nothing is sent; zero for never.
	Latest wire.Instant `json:"latest,omitzero"`
	// Stream reports whether the receivers of the type connect to Wakecall. Later attempts are
	// made at their connections.
	Stream bool `json:"stream,omitzero"`
	// Handed describes the handover of the attempt to another queue, if the policy has a stream
	// and another link.
	Handed *Handover `json:"handed,omitempty"`
	// Alert reports whether the policy has an alert for a bad end.
	Alert bool `json:"alert,omitzero"`
	// OnDelivered and OnFailed report whether the policy names a recipient of that outcome.
	OnDelivered bool `json:"on_delivered,omitzero"`
	OnFailed    bool `json:"on_failed,omitzero"`
	// Link is the link of the attempt, if the policy has a fallback. Fallbacks counts the
	// attempts on the fallback.
	Link      Link `json:"link,omitzero"`
	Fallbacks int  `json:"fallbacks,omitzero"`
	// DownSince is when the callback began to fail for the whole type, as the worker knew. It is
	// zero if it works or has no fallback.
	DownSince wire.Instant `json:"down_since,omitzero"`
	// Stop reports whether the receiver wants no further occurrence.
	Stop bool `json:"stop,omitzero"`
	// AckUntil is the deadline for the acknowledgement of an accepted attempt. RetryIn is then
	// the wait after a failure, and Exhausted reports whether a failure would be final.
	AckUntil  wire.Instant `json:"ack_until,omitzero"`
	Exhausted bool         `json:"exhausted,omitzero"`
	// Attempts are the records of all attempts of the delivery, including this one.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Worker, with ResultElsewhere, is the worker to ask.
	Worker string `json:"worker,omitzero"`
}

// Handover hands an attempt to a queue for one of two links.
type Handover struct {
	Link Link `json:"link"`
	// Probe is the time limit of an attempt that tests whether the callback works again; zero
	// for other attempts.
	Probe wire.Duration `json:"probe,omitzero"`
	// At is when it was handed over. Wait is how long it waits there for a receiver to connect,
	// zero for no limit.
	At   wire.Instant  `json:"at"`
	Wait wire.Duration `json:"wait,omitzero"`
	// Times counts the handovers in a row that were not taken, though receivers took others.
	Times int `json:"times,omitzero"`
	// Missed reports whether no receiver took it.
	Missed bool `json:"missed,omitzero"`
}

// MissHandover returns the report after a handover that no receiver took. The next attempt is made where
// both links are available.
func (r Report) MissHandover(handed Handover) Report {
	handed.Missed = true
	r.Handed, r.Stream = &handed, false
	return r
}

// NextIn returns the time from now until the next attempt, negative if that is overdue. It never
// exceeds RetryIn, even if the clock that set EndedAt is ahead of now.
func (r Report) NextIn(now time.Time) time.Duration {
	return min(r.EndedAt.Add(r.RetryIn.D()).Until(now), r.RetryIn.D())
}

// clocksDiffer is the usual difference between the clocks of two hosts.
const clocksDiffer = time.Second

// Early reports whether more than a tenth of the wait for the next attempt is left, or more than
// clocksDiffer. Less may be the difference between two clocks.
func (r Report) Early(now time.Time) bool {
	return r.NextIn(now) > min(r.RetryIn.D()/10, clocksDiffer)
}
