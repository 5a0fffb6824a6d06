package timer

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Spec is the durable truth of one timer: the input of its workflow. Fields
// are only ever added, since a Spec may be read by the code of years to come.
type Spec struct {
	wire.Key
	Memo
	// ContentType is the payload's; the payload itself travels beside the
	// Spec, so that Temporal stores and shows its bytes as they are.
	ContentType string             `json:"content_type,omitzero"`
	Callback    *delivery.Callback `json:"callback,omitempty"`
	Retry       *delivery.Retry    `json:"retry,omitempty"`
	// OnDelivered and OnFailed are who is told how the timer ended, in place of whom its
	// policy names.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Standing is the delivery that the run before has handed on, as its last attempt left
	// it; nil for none.
	Standing *delivery.Report `json:"standing,omitempty"`
	// TraceParent is the W3C trace context of the request that booked the timer.
	TraceParent string `json:"traceparent,omitzero"`
	// Behaviour is the version of the workflow's behaviour this timer was
	// booked under; see the ladder in package workflows.
	Behaviour int `json:"behaviour"`
	// Reuse is the policy's when the timer is booked. It decides about the booking,
	// and nothing about the timer.
	Reuse policy.Reuse `json:"-"`
	// Target is where the timer is called back, as people may see it: without a query.
	// It is not stored.
	Target string `json:"-"`
	// Eager reports whether a worker of this process is handed the timer as it is booked. It
	// is not stored.
	Eager bool `json:"-"`
}

// Memo is the part of a Spec that is kept in the workflow's memo, to be read
// without a worker. Temporal advises at most 2 KB for a memo.
type Memo struct {
	// Booking is unique to one booking of the id; a redelivery keeps it.
	Booking string `json:"booking"`
	// Revision counts the changes, from 1.
	Revision int `json:"revision"`
	// Round counts the deliveries that gave way to another one: for a change of when the
	// timer rings, and for a redelivery. Each round numbers its attempts from 1.
	Round int `json:"round,omitzero"`
	// Content is the revision at which the body changed last, of a timer that may have been
	// sent before; zero for the body that was booked.
	Content int          `json:"content,omitzero"`
	DueAt   wire.Instant `json:"due_at"`
	// Local is the due time as it was booked by a clock on a wall; nil where it was not.
	Local *Local `json:"local,omitempty"`
	// Debounce is nil for a timer that is not pushed out.
	Debounce *Debounce `json:"debounce,omitempty"`
	// LatestAt or ExpiresAfter, or neither: then the policy's default holds.
	LatestAt     wire.Instant  `json:"latest_at,omitzero"`
	ExpiresAfter wire.Duration `json:"expires_after,omitzero"`
	// NeverExpires is set by a redelivery: the policy's default does not hold.
	NeverExpires bool         `json:"never_expires,omitzero"`
	Priority     int          `json:"priority"`
	Labels       Labels       `json:"labels,omitempty"`
	CreatedAt    wire.Instant `json:"created_at"`
	// UpdatedAt is when the last booking or change was asked for; zero for timers of
	// before it was stored.
	UpdatedAt wire.Instant `json:"updated_at,omitzero"`
	// Fingerprint digests the terms of the last booking or change.
	Fingerprint string `json:"fingerprint"`
	// Idempotency is of the request that booked the timer; nil without a key.
	Idempotency *Idempotency `json:"idempotency,omitempty"`
	// EarlierKeys are those of earlier bookings of the id, the latest first.
	EarlierKeys EarlierKeys `json:"earlier_keys,omitempty"`
	// Refusals are the changes that could not be applied, the latest last.
	Refusals Refusals `json:"refusals,omitempty"`
	// Preload is fixed when it is booked or changed; it decides the start delay.
	Preload policy.Preload `json:"preload,omitzero"`
	// NotPreloaded reports whether no worker had room to preload the timer. It is then
	// handed out when it rings.
	NotPreloaded bool `json:"unheld,omitzero"`
	// Series is where a recurring timer stands; nil for a one-shot timer.
	Series *Series `json:"series,omitempty"`
	// Suspended reports whether a one-shot timer waits to be resumed, and Note why it was paused or
	// resumed. Those of a recurring one are its series'.
	Suspended bool   `json:"suspended,omitzero"`
	Note      string `json:"note,omitzero"`
}

// Admit turns a request into a Spec, or says everything that is wrong with it.
// booking must be unique to this request.
func Admit(key wire.Key, terms Terms, booking string, now time.Time) (Spec, error) {
	errs := append(key.Check(), terms.Check(now)...)
	if terms.DueAt == nil && terms.DueLocal == nil && terms.Delay == nil && terms.Recurrence == nil {
		errs.Add("/due_at", wire.CodeRequired, "give one of due_at, due_local, delay and recurrence")
	}
	if err := errs.Err(); err != nil {
		return Spec{}, err
	}
	spec := Spec{Key: key, Memo: Memo{Booking: booking, CreatedAt: wire.At(now)}}
	return spec.Apply(Change{Terms: terms, Fingerprint: terms.Fingerprint(), At: wire.At(now)})
}

// Latest is the time after which the timer must not ring, zero for never.
// fallback is the policy's default, counted from the due time.
func (m Memo) Latest(fallback wire.Duration) wire.Instant {
	switch {
	case m.NeverExpires:
		return 0
	case m.LatestAt != 0:
		return m.LatestAt
	case m.ExpiresAfter != 0:
		return m.DueAt.Add(m.ExpiresAfter.D())
	case fallback != 0:
		return m.DueAt.Add(fallback.D())
	default:
		return 0
	}
}

// withExpiry is the memo with another latest time: at most one of the two is set.
func withExpiry(m Memo, at wire.Instant, after wire.Duration) Memo {
	m.LatestAt, m.ExpiresAfter, m.NeverExpires = at, after, false
	return m
}

// RingsAt is when the timer shall ring: its due time, or later by the jitter.
func (m Memo) RingsAt() wire.Instant {
	if m.Series == nil || m.Series.Extra {
		return m.DueAt
	}
	return m.Series.Rule.RingAt(m.DueAt, m.Booking)
}

// Paused reports whether the timer, or the rule of a recurring one, is suspended.
func (m Memo) Paused() bool { return m.Suspended || m.Series != nil && m.Series.Paused }

// Resting reports whether the timer rings only after somebody resumes it.
func (m Memo) Resting() bool { return m.Paused() && (m.Series == nil || !m.Series.Extra) }

// RestsUntil is when a one-shot timer that rests expires, by what it says itself; zero for
// never, and for one that does not rest.
func (m Memo) RestsUntil() wire.Instant {
	if !m.Suspended {
		return 0
	}
	return m.Latest(0)
}

// Lapsed reports whether the latest time of a timer has passed while it rests: it expires, and
// calls nobody.
func (m Memo) Lapsed(now wire.Instant) bool {
	until := m.RestsUntil()
	return until != 0 && until <= now
}

// WebhookID is the Standard Webhooks message id of the delivery: opaque,
// without a dot, stable over all attempts and redeliveries. It stands for one body: a body
// that changes after an attempt has another one.
func (s Spec) WebhookID() string { return s.Memo.WebhookID(s.Key) }

// WebhookID is the message id of the timer key booked under this memo; each
// occurrence of a recurring timer has its own.
func (m Memo) WebhookID(key wire.Key) string {
	subject := key.String() + "\n" + m.Booking
	if m.Series != nil {
		subject += "\n" + m.DueAt.String()
		if m.Series.Extra { // several may be asked for within one millisecond
			subject += "\nextra " + strconv.Itoa(m.Series.Number)
		}
	}
	if m.Content != 0 {
		subject += "\ncontent " + strconv.Itoa(m.Content)
	}
	return MessageID(subject)
}

// MessageID is the Standard Webhooks message id of whatever is sent about
// subject: opaque, and without a dot.
func MessageID(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return "msg_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

// Call is where and how the timer's receiver is called under a policy whose
// defaults are filled in, and the ladder of its attempts.
func (s Spec) Call(policy policy.Policy) (delivery.Callback, delivery.Retry) {
	callback, retry := policy.Callback, policy.Retry
	if s.Callback != nil {
		callback = s.Callback.Over(policy.Callback)
	}
	if s.Retry != nil {
		retry = *s.Retry
	}
	return callback, retry
}
