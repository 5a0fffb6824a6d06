package timer

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Spec is the durable state of one timer: the input of its workflow. Fields are only ever added,
// since future versions must read it.
type Spec struct {
	wire.Key
	Memo
	// ContentType is the payload's. The payload travels beside the Spec, so that Temporal stores
	// and shows its bytes unchanged.
	ContentType string             `json:"content_type,omitzero"`
	Callback    *delivery.Callback `json:"callback,omitempty"`
	Retry       *delivery.Retry    `json:"retry,omitempty"`
	// OnDelivered and OnFailed are the recipients of outcomes, in place of the policy's.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Ongoing is the delivery handed over by the previous run, as of its last attempt; nil for
	// none.
	Ongoing *delivery.Report `json:"standing,omitempty"`
	// Rung is the first attempt of an earlier round; nil for none.
	Rung *Rung `json:"rung,omitempty"`
	// TraceParent is the W3C trace context of the request that booked the timer.
	TraceParent string `json:"traceparent,omitzero"`
	// Behaviour is the version of the workflow's behaviour at the booking; see the ladder in
	// package workflows.
	Behaviour int `json:"behaviour"`
	// Reuse is the policy's at the booking. It decides about the booking only.
	Reuse policy.Reuse `json:"-"`
	// Target is the destination for display, without a query. It is not stored.
	Target string `json:"-"`
	// Eager reports whether a worker of this process gets the timer at its booking. It is not
	// stored.
	Eager bool `json:"-"`
}

// Memo is the part of a Spec in the workflow's memo, readable without a worker. Temporal advises
// at most 2 KB for a memo.
type Memo struct {
	// Booking is unique to one booking of the id; a redelivery keeps it.
	Booking string `json:"booking"`
	// Revision counts the changes, from 1.
	Revision int `json:"revision"`
	// Round counts the deliveries replaced by another: for a change of the ring's time, and for
	// a redelivery. Each round numbers its attempts from 1.
	Round int `json:"round,omitzero"`
	// Content is the revision of the last change of the body, of a timer that may have been sent
	// before; zero for the booked body.
	Content int          `json:"content,omitzero"`
	DueAt   wire.Instant `json:"due_at"`
	// Local is the due time by a wall clock; nil if it was booked otherwise.
	Local *Local `json:"local,omitempty"`
	// Debounce is nil for a timer without one.
	Debounce *Debounce `json:"debounce,omitempty"`
	// LatestAt and ExpiresAfter exclude one another. Without either, the policy's default holds.
	LatestAt     wire.Instant  `json:"latest_at,omitzero"`
	ExpiresAfter wire.Duration `json:"expires_after,omitzero"`
	// NeverExpires is set by a redelivery: the policy's default does not hold.
	NeverExpires bool         `json:"never_expires,omitzero"`
	Priority     int          `json:"priority"`
	Labels       Labels       `json:"labels,omitempty"`
	CreatedAt    wire.Instant `json:"created_at"`
	// UpdatedAt is when the last booking or change was requested; zero for timers of earlier
	// versions.
	UpdatedAt wire.Instant `json:"updated_at,omitzero"`
	// Fingerprint is a digest of the terms of the last booking or change.
	Fingerprint string `json:"fingerprint"`
	// Idempotency identifies the request that booked the timer; nil without a key.
	Idempotency *Idempotency `json:"idempotency,omitempty"`
	// EarlierKeys are the keys of earlier bookings of the id, the latest first.
	EarlierKeys EarlierKeys `json:"earlier_keys,omitempty"`
	// Refusals are the changes that could not be applied, the latest last.
	Refusals Refusals `json:"refusals,omitempty"`
	// Applied are the changes that were applied, the latest last.
	Applied Applied `json:"applied,omitempty"`
	// Preload is fixed at the booking or a change; it decides the start delay.
	Preload policy.Preload `json:"preload,omitzero"`
	// NotPreloaded reports whether no worker had room to preload the timer. A worker then gets
	// it when it rings.
	NotPreloaded bool `json:"unheld,omitzero"`
	// Series is the position of a recurring timer; nil for a one-shot timer.
	Series *Series `json:"series,omitempty"`
	// Suspended reports whether a one-shot timer is paused, and Note is the reason for its pause
	// or resumption. A recurring timer has both in its series.
	Suspended bool   `json:"suspended,omitzero"`
	Note      string `json:"note,omitzero"`
}

// Admit turns a request into a Spec, or returns every fault of it. booking must be unique to
// this request.
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

// Latest returns the time after which the timer must not ring, zero for never. fallback is the
// policy's default, counted from the due time.
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

// withExpiry returns the memo with another latest time: at most one of the two is set.
func withExpiry(m Memo, at wire.Instant, after wire.Duration) Memo {
	m.LatestAt, m.ExpiresAfter, m.NeverExpires = at, after, false
	return m
}

// RingsAt returns when the timer rings: its due time, plus the jitter.
func (m Memo) RingsAt() wire.Instant {
	if m.Series == nil || m.Series.Extra {
		return m.DueAt
	}
	return m.Series.Rule.RingAt(m.DueAt, m.Booking)
}

// Paused reports whether the timer, or the rule of a recurring one, is paused.
func (m Memo) Paused() bool { return m.Suspended || m.Series != nil && m.Series.Paused }

// Resting reports whether the timer rings only after it is resumed.
func (m Memo) Resting() bool { return m.Paused() && (m.Series == nil || !m.Series.Extra) }

// RestsUntil returns when a paused one-shot timer expires by its own terms; zero for never, and
// for one that is not paused.
func (m Memo) RestsUntil() wire.Instant {
	if !m.Suspended {
		return 0
	}
	return m.Latest(0)
}

// PastLatest reports whether the latest time of a paused timer has passed. It then expires without a
// call.
func (m Memo) PastLatest(now wire.Instant) bool {
	until := m.RestsUntil()
	return until != 0 && until <= now
}

// WebhookID returns the Standard Webhooks message id of the delivery: opaque, without a dot,
// stable over all attempts and redeliveries. It stands for one body: a changed body gets another
// id.
func (s Spec) WebhookID() string { return s.Memo.WebhookID(s.Key) }

// WebhookID returns the message id of the timer key booked under this memo. Each occurrence of a
// recurring timer has its own.
func (m Memo) WebhookID(key wire.Key) string {
	subject := key.String() + "\n" + m.Booking
	if m.Series != nil {
		subject += "\n" + m.DueAt.String()
		if m.Series.Extra { // one millisecond may have several requests
			subject += "\nextra " + strconv.Itoa(m.Series.Number)
		}
	}
	if m.Content != 0 {
		subject += "\ncontent " + strconv.Itoa(m.Content)
	}
	return MessageID(subject)
}

// MessageID returns the Standard Webhooks message id for a subject: opaque, and without a dot.
func MessageID(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return "msg_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

var messageIDForm = regexp.MustCompile(`^msg_[a-z2-7]{26}$`)

// IsMessageID reports whether a text has the form of what [MessageID] returns.
func IsMessageID(text string) bool { return messageIDForm.MatchString(text) }

// Call returns the callback of the timer and its ladder under a policy with its defaults filled
// in.
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
