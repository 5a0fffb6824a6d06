package delivery

import (
	"cmp"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Acceptance is the record of an attempt that was accepted, kept in the memo of its run:
// what a reader is told without a worker.
type Acceptance struct {
	Attempt int `json:"attempt"`
	// Until is when its receiver has to have acknowledged it.
	Until      wire.Instant `json:"until"`
	LatenessMS *int64       `json:"lateness_ms,omitempty"`
	Link       Link         `json:"link,omitzero"`
	// Result is what became of it, empty while that is awaited. The rest goes with it.
	Result    Result        `json:"result,omitzero"`
	SettledAt wire.Instant  `json:"settled_at,omitzero"`
	RetryIn   wire.Duration `json:"retry_in,omitzero"`
	Failure   *Failure      `json:"failure,omitempty"`
	// Before is how the attempt before it failed, while the result is awaited.
	Before *Failure `json:"before,omitempty"`
}

// LastFailure is that of the timer.
func (a Acceptance) LastFailure() *Failure { return cmp.Or(a.Failure, a.Before) }

// Awaited reports whether a receiver has still to say what became of the attempt.
func (a Acceptance) Awaited() bool { return a.Attempt > 0 && a.Result == "" }

// Wait is what the delivery waits for while the result is awaited.
func (a Acceptance) Wait() Wait {
	return Wait{WaitsFor: WaitsForAck, WaitsUntil: a.Until, WaitsBy: HeldByReceiver}
}

// Nacked reports whether its receiver said that it failed.
func (a Acceptance) Nacked() bool { return a.Failure != nil && a.Failure.Class == Nacked }

// Acceptance is the record of the attempt of the report, as it stands.
func (r Report) Acceptance() Acceptance {
	a := Acceptance{Attempt: r.Attempt, Until: r.AckUntil, LatenessMS: r.LatenessMS, Link: r.Link}
	if r.Result == ResultAccepted {
		a.Before = r.Failure
	} else {
		a.Result, a.SettledAt, a.RetryIn, a.Failure = r.Result, r.EndedAt, r.RetryIn, r.Failure
	}
	return a
}

// Answers reports whether an acknowledgement is about the attempt of the report, which
// delivers the given round of the webhook id.
func (r Report) Answers(a Acknowledgement, webhookID string, round int) bool {
	return r.Result == ResultAccepted && a.WebhookID == webhookID && a.Round == round && a.Attempt == r.Attempt
}

// Acknowledged is the report of an accepted attempt once its receiver said what became of
// it.
func (r Report) Acknowledged(a Acknowledgement, at wire.Instant) Report {
	if !a.Nack {
		r.Result, r.RetryIn, r.Failure = ResultDelivered, 0, nil
		return r.settled(at)
	}
	r.Failure = Answer{Class: Nacked, Detail: wire.Excerpt(a.Reason)}.Failure(at)
	if a.RetryAfter > r.RetryIn {
		r.Waits = WaitsForRetryAfter
	}
	return r.refused(a.RetryIn(r), at)
}

// RetryIn is the wait that a nack leads to: the larger of the ladder's step and what the
// receiver asked for.
func (a Acknowledgement) RetryIn(r Report) wire.Duration { return max(r.RetryIn, a.RetryAfter) }

// Unacknowledged is the report of an accepted attempt once its receiver's time was up.
func (r Report) Unacknowledged(at wire.Instant) Report {
	r.Failure = Answer{Class: Unacknowledged}.Failure(at)
	return r.refused(r.RetryIn, at)
}

// refused is the report of an accepted attempt that failed.
func (r Report) refused(wait wire.Duration, at wire.Instant) Report {
	r.Result, r.RetryIn = ResultRetry, wait
	if r.Exhausted {
		r.Result, r.RetryIn, r.Waits = ResultFailed, 0, ""
	}
	return r.settled(at)
}

// settled notes in the record of the attempt what became of it.
func (r Report) settled(at wire.Instant) Report {
	r.EndedAt = at
	r.Attempts = Resolve(r.Attempts, r.Acceptance())
	return r
}

// Resolve is the record of attempts with what became of one that was accepted.
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
