package policy

import (
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Policy says how the timers of one business type are called back, and how
// much of Wakecall they may use. It is read when a delivery starts, not when a
// timer is booked.
type Policy struct {
	BusinessType string `json:"business_type"`
	// Version counts the changes of this policy, from 1.
	Version int `json:"version"`
	// Callback without a URL is for types whose timers each bring their own.
	Callback delivery.Callback `json:"callback"`
	// Declare is nil where Wakecall declares nothing at the callback's broker.
	Declare *delivery.Declare `json:"declare,omitempty"`
	Retry   delivery.Retry    `json:"retry"`
	// ExpiresAfter, counted from the due time, is the default of timers that
	// name no latest time; left out, they never expire.
	ExpiresAfter wire.Duration `json:"expires_after,omitzero"`
	// SigningSecrets sign each attempt, newest first.
	SigningSecrets []string `json:"signing_secrets,omitempty"`
	// SecretOverlap is how long a secret that was replaced goes on signing.
	SecretOverlap *wire.Duration `json:"secret_overlap,omitempty"`
	// RetiredSecrets were replaced, and sign until their time has come.
	RetiredSecrets []RetiredSecret `json:"retired_secrets,omitempty"`
	Limits         Limits          `json:"limits,omitzero"`
	// Priority is the default of the type's timers, 1 (first) to 5 (last).
	Priority int `json:"priority,omitzero"`
	// Paused holds every callback back until the policy says otherwise.
	Paused bool `json:"paused,omitzero"`
	// PausedBy is who paused it, as far as the API knows, and PausedAt when.
	PausedBy string          `json:"paused_by,omitzero"`
	PausedAt wire.Instant    `json:"paused_at,omitzero"`
	Alert    *delivery.Alert `json:"alert,omitempty"`
	// OnDelivered and OnFailed name who is told how each delivery ended: well, or failed
	// or expired.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Fallback is nil where the callback is the only link.
	Fallback *delivery.Fallback `json:"fallback,omitempty"`
	// Ack is nil where an answer 202 delivers, as every other 2xx does.
	Ack *delivery.Ack `json:"ack,omitempty"`
	// Reuse says when the id of a timer that has ended may be booked again. It
	// is looked at when that is tried.
	Reuse Reuse `json:"reuse,omitzero"`
	// MinInterval is the shortest time between two occurrences that a recurring
	// timer of the type may ask for.
	MinInterval wire.Duration `json:"min_interval,omitzero"`
	// Preload is how long before its due time a timer is handed to a worker, at
	// most: where thousands are due at one instant, their wake-ups are spread
	// over it. Zero hands them over when they ring. It holds for timers booked
	// since.
	Preload *wire.Duration `json:"preload,omitempty"`
	// TLS is nil where the type needs nothing beside what Wakecall trusts.
	TLS *TLS `json:"tls,omitempty"`
	// MaxBackPressure is the longest wait that a receiver's Retry-After may ask of
	// the whole type, and of the timer that it answered; 0 ignores it.
	MaxBackPressure *wire.Duration `json:"max_back_pressure,omitempty"`
	// BackPressure is in force while the receiver has asked for patience.
	BackPressure *BackPressure `json:"back_pressure,omitempty"`
	// PressureLiftedAt is when somebody last put an end to back-pressure: what was
	// asked for before does not count any more, wherever it is still on its way.
	PressureLiftedAt wire.Instant `json:"pressure_lifted_at,omitzero"`
	// Claims are what dispatches have of Limits.CallbacksPerSecond.
	Claims Claims `json:"claims,omitempty"`
	// StreamedUntil is until when attempts may have begun to wait for receivers to connect
	// as an older version said: they go over to where the policy leads now. Zero where they
	// wait as long as it takes, and where none ever did.
	StreamedUntil wire.Instant `json:"streamed_until,omitzero"`

	// DiscardAnswers keeps the bodies of failed answers out of the record of attempts.
	DiscardAnswers bool `json:"discard_answers,omitzero"`

	// ReadAt is when the read of this policy began, and ClosedUntil until when it
	// Estimate no bookings, because it is being deleted. Neither is part of it.
	ReadAt, ClosedUntil wire.Instant `json:"-"`
	// Unopened are the pointers of values that are sealed with a key that is not
	// configured. They stay sealed.
	Unopened []string `json:"-"`
}

// WithDefaults fills what the policy leaves out.
func (p Policy) WithDefaults() Policy {
	if p.Callback.Timeout == 0 {
		p.Callback.Timeout = wire.Duration(delivery.DefaultAttemptTimeout)
	}
	if p.Retry.Steps == nil && p.Retry.Initial == 0 {
		p.Retry = delivery.DefaultRetry()
	}
	p.Retry = p.Retry.WithDefaults()
	if p.Priority == 0 {
		p.Priority = DefaultPriority
	}
	if p.SecretOverlap == nil {
		overlap := wire.Duration(DefaultSecretOverlap)
		p.SecretOverlap = &overlap
	}
	if p.Fallback != nil {
		p.Fallback = p.Fallback.WithDefaults()
	}
	if p.MaxBackPressure == nil {
		most := wire.Duration(delivery.MaxRetryAfter)
		p.MaxBackPressure = &most
	}
	p.Limits = p.Limits.withDefaults()
	if p.Reuse == "" {
		p.Reuse = ReuseAfterFailure
	}
	if p.MinInterval == 0 {
		p.MinInterval = wire.Duration(recurrence.MinInterval)
	}
	if p.Preload == nil {
		preload := wire.Duration(DefaultPreload)
		p.Preload = &preload
	}
	return p
}

// Check returns what is wrong with the policy, field by field. A Retry that is
// wholly left out is in order.
func (p Policy) Check() (errs wire.FieldErrors) {
	errs = wire.CheckBusinessType(p.BusinessType)
	if !p.Callback.Addressed() && len(p.Callback.Headers) > 0 {
		errs.Add("/callback/headers", wire.CodeConflict, "goes with url: a timer with a URL of its own is not sent them")
	}
	errs.Under("/callback", p.Callback.Check())
	if p.Declare != nil {
		errs.Under("/declare", p.Declare.Check(p.Callback.Routed(p.BusinessType)))
	}
	if !p.Retry.IsLeftOut() {
		errs.Under("/retry", p.Retry.Check())
	}
	wire.EnforceNonZero(&errs, FieldExpiresAfter, p.ExpiresAfter)
	wire.EnforceNonZero(&errs, FieldPriority, p.Priority)
	wire.EnforceNonZero(&errs, fieldMinInterval, p.MinInterval)
	wire.EnforceGiven(&errs, fieldPreload, p.Preload)
	errs = append(errs, p.Reuse.check()...)
	wire.EnforceGiven(&errs, fieldMaxBackPressure, p.MaxBackPressure)
	errs.Under("/limits", p.Limits.check())
	errs = append(errs, checkSecrets(p)...)
	if p.Alert != nil {
		errs.Under("/alert", p.Alert.Check())
	}
	errs = append(errs, delivery.CheckOutcomes(p.OnDelivered, p.OnFailed)...)
	if p.Fallback != nil {
		errs.Under("/fallback", p.Fallback.Check(p.Callback.Destination, p.BusinessType))
	}
	if p.Ack != nil {
		errs.Under("/ack", p.Ack.Check(streamLink(p)))
	}
	if p.TLS != nil {
		errs.Under("/tls", p.TLS.Check())
	}
	return errs
}

// Streams reports whether one of the links is a stream.
func (p Policy) Streams() bool {
	return p.Callback.Stream || (p.Fallback != nil && p.Fallback.Stream)
}

// streamLink is the link that is a stream, the callback first; "" where there is none.
func streamLink(p Policy) string {
	switch {
	case p.Callback.Stream:
		return "callback"
	case p.Streams():
		return "fallback"
	}
	return ""
}

// OnlyStreams reports whether there is no other link than a stream.
func (p Policy) OnlyStreams() bool { return p.Callback.Stream && p.Fallback == nil }

// LastStreamed is until when, as of now, receivers of the type connected by themselves;
// zero for never.
func (p Policy) LastStreamed(now wire.Instant) wire.Instant {
	if p.Streams() {
		return now
	}
	return p.StreamedUntil
}

// RefuseOwn is what is wrong with a callback of a timer's own under the policy: where the
// receivers of the type connect by themselves, a timer cannot call elsewhere.
func (p Policy) RefuseOwn(own delivery.Callback) (errs wire.FieldErrors) {
	if !p.Callback.Stream || !own.Addressed() {
		return nil
	}
	pointer := "/callback/url"
	if own.Broker != "" {
		pointer = "/callback/broker"
	}
	errs.Add(pointer, wire.CodeConflict, "must be left out: the receivers of "+p.BusinessType+" connect by themselves, as its policy says")
	return errs
}

// Reuse says when the id of a timer that has ended may be booked again.
type Reuse string

// The closed list of ways to reuse an id.
const (
	// ReuseAfterFailure frees the id of a timer that was cancelled or failed. One
	// that was delivered or expired keeps it for as long as Temporal retains it,
	// so that a repeated booking cannot ring twice.
	ReuseAfterFailure Reuse = "after_failure"
	// ReuseAfterEnd frees the id at once, however the timer ended.
	ReuseAfterEnd Reuse = "after_end"
)

// Reuses lists every way.
func Reuses() []Reuse { return []Reuse{ReuseAfterFailure, ReuseAfterEnd} }

func (r Reuse) check() (errs wire.FieldErrors) {
	if r != "" && !slices.Contains(Reuses(), r) {
		errs.Add("/reuse", wire.CodeInvalidParameter, "must be after_failure or after_end")
	}
	return errs
}
