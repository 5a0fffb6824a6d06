package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Result is what one attempt did to its delivery.
type Result string

// The closed list of results.
const (
	// ResultDelivered: the receiver took it.
	ResultDelivered Result = "delivered"
	// ResultAccepted: the receiver took it, and says later what becomes of it.
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
	// ResultWorkerStopping: the worker stops, and another one shall make the attempt.
	ResultWorkerStopping Result = "handed_back"
	// ResultRejected: the worker has preloaded as many timers as it can, and the
	// timer shall come again when it is due.
	ResultRejected Result = "crowded_out"
	// ResultElsewhere: another worker began the attempt, and knows what came of it.
	ResultElsewhere Result = "elsewhere"
)

// Final reports whether nothing follows for the delivery.
func (r Result) Final() bool {
	return r == ResultDelivered || r == ResultFailed || r == ResultExpired
}

// Released reports whether the worker gave the timer up before its first attempt. The
// timer then waits as if it had not been handed out.
func (r Result) Released() bool {
	return r == ResultInterrupted || r == ResultWorkerStopping || r == ResultRejected
}

// Report is the record of one attempt.
type Report struct {
	Result  Result `json:"result"`
	Attempt int    `json:"attempt"`
	// SentAt is when the first byte left; zero when nothing was sent.
	SentAt wire.Instant `json:"sent_at,omitzero"`
	// LatenessMS is the delivery's: first byte of its first attempt, minus the
	// due time. Nil while nothing was sent.
	LatenessMS *int64 `json:"lateness_ms,omitempty"`
	// EndedAt is when the attempt was over.
	EndedAt wire.Instant  `json:"ended_at,omitzero"`
	RetryIn wire.Duration `json:"retry_in,omitzero"`
	// Waits is what RetryIn is for, where it is no step of the ladder.
	Waits Waiting `json:"waits,omitzero"`
	// Failure is why it did not deliver. Of an attempt that was accepted it is that of the
	// attempt before.
	Failure       *Failure `json:"failure,omitempty"`
	PolicyVersion int      `json:"policy_version,omitzero"`
	// Timeout is the attempt timeout that was in force.
	Timeout wire.Duration `json:"timeout,omitzero"`
	// Skipped counts the tries since the last attempt that called nobody.
	Skipped int `json:"skipped,omitzero"`
	// Latest is the time after which nothing is sent; zero for never.
	Latest wire.Instant `json:"latest,omitzero"`
	// Stream reports whether the receivers of the type connect by themselves. The attempts
	// that follow are made where their connections are.
	Stream bool `json:"stream,omitzero"`
	// Handed says by which link the attempt shall go that was handed to another queue for
	// it, where the policy has a stream and another link.
	Handed *Handover `json:"handed,omitempty"`
	// Alert reports whether somebody wants to be told of a bad end.
	Alert bool `json:"alert,omitzero"`
	// OnDelivered and OnFailed report whether the policy names somebody who wants to be told
	// how the delivery ended.
	OnDelivered bool `json:"on_delivered,omitzero"`
	OnFailed    bool `json:"on_failed,omitzero"`
	// Link is by which the attempt went, where the policy has a fallback; Fallbacks
	// counts the attempts by that one.
	Link      Link `json:"link,omitzero"`
	Fallbacks int  `json:"fallbacks,omitzero"`
	// DownSince is since when the callback has failed, for the whole type, as the worker
	// knew; zero when it had not, or has no fallback.
	DownSince wire.Instant `json:"down_since,omitzero"`
	// Stop reports whether the receiver wants no further occurrence.
	Stop bool `json:"stop,omitzero"`
	// AckUntil is when the receiver of an accepted attempt has to have acknowledged it.
	// RetryIn is then the wait that follows where it fails, and Exhausted reports whether no
	// attempt would follow.
	AckUntil  wire.Instant `json:"ack_until,omitzero"`
	Exhausted bool         `json:"exhausted,omitzero"`
	// Attempts record each attempt of the delivery so far, this one included.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Worker, with ResultElsewhere, is the worker to ask.
	Worker string `json:"worker,omitzero"`
}

// Handover hands an attempt to where one of two links can be taken.
type Handover struct {
	Link Link `json:"link"`
	// Probe is how long the attempt may take that finds out whether the callback works
	// again; zero for any other one.
	Probe wire.Duration `json:"probe,omitzero"`
	// At is when it was handed over, and Wait how long it waits there for a receiver to
	// connect, zero for as long as it takes.
	At   wire.Instant  `json:"at"`
	Wait wire.Duration `json:"wait,omitzero"`
	// Times is how often in a row it was handed over and not taken, though receivers took
	// others.
	Times int `json:"times,omitzero"`
	// Missed reports whether nobody took it.
	Missed bool `json:"missed,omitzero"`
}

// Miss is the report once nobody has taken what was handed over. The next attempt is made
// where both links can be taken.
func (r Report) Miss(handed Handover) Report {
	handed.Missed = true
	r.Handed, r.Stream = &handed, false
	return r
}

// NextIn is the time from now until the next attempt, negative when that is overdue. It
// is never more than RetryIn, also where the clock that set EndedAt is ahead of now.
func (r Report) NextIn(now time.Time) time.Duration {
	return min(r.EndedAt.Add(r.RetryIn.D()).Until(now), r.RetryIn.D())
}

// clocksDiffer is by how much the clocks of two hosts may differ unnoticed.
const clocksDiffer = time.Second

// Early reports whether more than a tenth of the wait for the next attempt is left, or more
// than clocks may differ by. Less than that may be the difference between two clocks.
func (r Report) Early(now time.Time) bool {
	return r.NextIn(now) > min(r.RetryIn.D()/10, clocksDiffer)
}
