package delivery

import (
	"cmp"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Acceptance is the record of an accepted attempt. The memo of its run holds it, so that reads
// need no worker.
type Acceptance struct {
	Attempt int `json:"attempt"`
	// Until is the deadline for the acknowledgement.
	Until      wire.Instant `json:"until"`
	LatenessMS *int64       `json:"lateness_ms,omitempty"`
	Link       Link         `json:"link,omitzero"`
	// Result is the outcome, empty while it is awaited. The next three fields come with it.
	Result    Result        `json:"result,omitzero"`
	SettledAt wire.Instant  `json:"settled_at,omitzero"`
	RetryIn   wire.Duration `json:"retry_in,omitzero"`
	Failure   *Failure      `json:"failure,omitempty"`
	// Before is the failure of the attempt before it, while the result is awaited.
	Before *Failure `json:"before,omitempty"`
}

// LastFailure returns the last failure of the timer.
func (a Acceptance) LastFailure() *Failure { return cmp.Or(a.Failure, a.Before) }

// Awaited reports whether the receiver has yet to acknowledge the attempt.
func (a Acceptance) Awaited() bool { return a.Attempt > 0 && a.Result == "" }

// Wait returns the delivery's wait for the acknowledgement.
func (a Acceptance) Wait() Wait {
	return Wait{WaitsFor: WaitsForAck, WaitsUntil: a.Until, WaitsBy: HeldByReceiver}
}

// Nacked reports whether the receiver nacked the attempt.
func (a Acceptance) Nacked() bool { return a.Failure != nil && a.Failure.Class == Nacked }

// Acceptance returns the record of the attempt of the report in its present state.
func (r Report) Acceptance() Acceptance {
	a := Acceptance{Attempt: r.Attempt, Until: r.AckUntil, LatenessMS: r.LatenessMS, Link: r.Link}
	if r.Result == ResultAccepted {
		a.Before = r.Failure
	} else {
		a.Result, a.SettledAt, a.RetryIn, a.Failure = r.Result, r.EndedAt, r.RetryIn, r.Failure
	}
	return a
}

// Answers reports whether an acknowledgement is for the attempt of the report, which delivers
// the given round of the webhook id.
func (r Report) Answers(a Acknowledgement, webhookID string, round int) bool {
	return r.Result == ResultAccepted && a.WebhookID == webhookID && a.Round == round && a.Attempt == r.Attempt
}

// Acknowledged returns the report of an accepted attempt after its acknowledgement.
func (r Report) Acknowledged(a Acknowledgement, at wire.Instant) Report {
	if !a.Nack {
		r.Result, r.RetryIn, r.Failure = ResultDelivered, 0, nil
		return r.withOutcome(at)
	}
	r.Failure = Answer{Class: Nacked, Detail: wire.Excerpt(a.Reason)}.Failure(at)
	if a.RetryAfter > r.RetryIn {
		r.Waits = WaitsForRetryAfter
	}
	return r.refused(a.RetryIn(r), at)
}

// RetryIn returns the wait after a nack: the larger of the ladder's step and the receiver's
// request.
func (a Acknowledgement) RetryIn(r Report) wire.Duration { return max(r.RetryIn, a.RetryAfter) }

// Unacknowledged returns the report of an accepted attempt after its deadline passed.
func (r Report) Unacknowledged(at wire.Instant) Report {
	r.Failure = Answer{Class: Unacknowledged}.Failure(at)
	return r.refused(r.RetryIn, at)
}

// refused returns the report of an accepted attempt that failed.
func (r Report) refused(wait wire.Duration, at wire.Instant) Report {
	r.Result, r.RetryIn = ResultRetry, wait
	if r.Exhausted {
		r.Result, r.RetryIn, r.Waits = ResultFailed, 0, ""
	}
	return r.withOutcome(at)
}

// withOutcome puts the outcome into the record of the attempt.
func (r Report) withOutcome(at wire.Instant) Report {
	r.EndedAt = at
	r.Attempts = Resolve(r.Attempts, r.Acceptance())
	return r
}

// Resolve returns the attempts with the outcome of an accepted one.
func Resolve(attempts []Attempt, a Acceptance) []Attempt {
	at := slices.IndexFunc(attempts, func(made Attempt) bool { return made.Number == a.Attempt })
	if at < 0 || a.Awaited() {
		return attempts
	}
	attempts = slices.Clone(attempts)
	made := &attempts[at]
	made.Result, made.RetryIn, made.SettledAt = a.Result, a.RetryIn, a.SettledAt
	if a.Failure != nil {
		made.Class = a.Failure.Class
	}
	if a.Nacked() {
		made.Answer = a.Failure.Reason()
	}
	return attempts
}
