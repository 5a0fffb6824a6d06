package policy

import (
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Policy says how to call back the timers of one business type, and how much of Wakecall they
// may use. It is read when a delivery starts, not when a timer is booked.
type Policy struct {
	BusinessType string `json:"business_type"`
	// Version counts the changes of this policy, from 1.
	Version int `json:"version"`
	// Callback has no URL for types whose timers each have their own.
	Callback delivery.Callback `json:"callback"`
	// Declare is nil if Wakecall declares nothing at the callback's broker.
	Declare *delivery.Declare `json:"declare,omitempty"`
	Retry   delivery.Retry    `json:"retry"`
	// ExpiresAfter, counted from the due time, is the default of timers without a latest time.
	// Left out, they never expire.
	ExpiresAfter wire.Duration `json:"expires_after,omitzero"`
	// SigningSecrets sign each attempt, newest first.
	SigningSecrets []string `json:"signing_secrets,omitempty"`
	// SecretOverlap is how long a replaced secret goes on signing.
	SecretOverlap *wire.Duration `json:"secret_overlap,omitempty"`
	// SecretsChangedAt is when SigningSecrets were last set; 0 for none, and if that is not known.
	SecretsChangedAt wire.Instant `json:"secrets_changed_at,omitzero"`
	// RetiredSecrets were replaced, and sign until their overlap ends.
	RetiredSecrets []RetiredSecret `json:"retired_secrets,omitempty"`
	Limits         Limits          `json:"limits,omitzero"`
	// Priority is the default of the type's timers, 1 (first) to 5 (last).
	Priority int `json:"priority,omitzero"`
	// Paused holds back every callback until the policy changes.
	Paused bool `json:"paused,omitzero"`
	// PausedBy is the caller who paused it, if known, and PausedAt the time.
	PausedBy string          `json:"paused_by,omitzero"`
	PausedAt wire.Instant    `json:"paused_at,omitzero"`
	Alert    *delivery.Alert `json:"alert,omitempty"`
	// OnDelivered and OnFailed name the recipients of outcomes: delivered, or failed or expired.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Fallback is nil if the callback is the only link.
	Fallback *delivery.Fallback `json:"fallback,omitempty"`
	// Ack is nil if an answer 202 delivers, as every other 2xx does.
	Ack *delivery.Ack `json:"ack,omitempty"`
	// Reuse decides when the id of an ended timer may be booked again. It is checked at the new
	// booking.
	Reuse Reuse `json:"reuse,omitzero"`
	// MinInterval is the shortest time between two occurrences of a recurring timer of the type.
	MinInterval wire.Duration `json:"min_interval,omitzero"`
	// Preload is the longest time before its due time at which a worker gets a timer. If
	// thousands are due at one instant, their wake-ups are spread over it. With zero, workers
	// get timers when they ring. A change applies to later bookings.
	Preload *wire.Duration `json:"preload,omitempty"`
	// OnTime is how late the first attempt of a timer may be and still count as punctual. It is a
	// promise that is measured, and changes nothing of how timers ring.
	OnTime wire.Duration `json:"on_time,omitzero"`
	// TLS is nil if the type needs nothing beyond Wakecall's own trust.
	TLS *TLS `json:"tls,omitempty"`
	// MaxBackPressure is the longest wait that a receiver's Retry-After may impose on the whole
	// type, and on the answered timer; 0 ignores it.
	MaxBackPressure *wire.Duration `json:"max_back_pressure,omitempty"`
	// BackPressure is set while the receiver has asked for a pause.
	BackPressure *BackPressure `json:"back_pressure,omitempty"`
	// PressureLiftedAt is when a caller last lifted back-pressure. Earlier requests for a pause
	// no longer count, even if they arrive later.
	PressureLiftedAt wire.Instant `json:"pressure_lifted_at,omitzero"`
	// Claims are the parts of Limits.CallbacksPerSecond that dispatches claim.
	Claims Claims `json:"claims,omitempty"`
	// StreamedUntil is the last moment at which attempts may have begun to wait for stream
	// receivers under an older version. They change to the policy's present link. It is zero if
	// they wait without limit, and if none ever waited.
	StreamedUntil wire.Instant `json:"streamed_until,omitzero"`

	// DiscardAnswers leaves the bodies of failed answers out of the record of attempts.
	DiscardAnswers bool `json:"discard_answers,omitzero"`

	// ReadAt is when the read of this policy began. ClosedUntil is how long it takes no bookings
	// because it is being deleted. Neither is part of it.
	ReadAt, ClosedUntil wire.Instant `json:"-"`
	// Unopened are the pointers of values sealed with a key that is not configured. They stay
	// sealed.
	Unopened []string `json:"-"`
}

// WithDefaults returns the policy with its defaults filled in.
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
	if p.OnTime == 0 {
		p.OnTime = wire.Duration(DefaultOnTime)
	}
	if p.Preload == nil {
		preload := wire.Duration(DefaultPreload)
		p.Preload = &preload
	}
	return p
}

// Check returns what is wrong with the policy, field by field. It accepts an empty Retry.
func (p Policy) Check() (errs wire.FieldErrors) {
	errs = wire.CheckBusinessType(p.BusinessType)
	if !p.Callback.Addressed() && len(p.Callback.Headers) > 0 {
		errs.AddBeside("/callback/headers", wire.CodeConflict, "is allowed only with url: a timer with its own URL does not get these headers",
			"/callback/url", "/callback/broker", "/callback/stream")
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
	wire.EnforceNonZero(&errs, fieldOnTime, p.OnTime)
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

// streamLink returns the name of the link that is a stream, the callback first; "" if there is
// none.
func streamLink(p Policy) string {
	switch {
	case p.Callback.Stream:
		return "callback"
	case p.Streams():
		return "fallback"
	}
	return ""
}

// OnlyStreams reports whether a stream is the only link.
func (p Policy) OnlyStreams() bool { return p.Callback.Stream && p.Fallback == nil }

// LastStreamed returns the last moment, as of now, at which the type had a stream; zero for
// never.
func (p Policy) LastStreamed(now wire.Instant) wire.Instant {
	if p.Streams() {
		return now
	}
	return p.StreamedUntil
}

// RefuseOwn returns what is wrong with a timer's own callback under the policy. A type with a
// stream callback allows none.
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

// Reuse decides when the id of an ended timer may be booked again.
type Reuse string

// The closed list of ways to reuse an id.
const (
	// ReuseAfterFailure frees the id of a cancelled or failed timer. A delivered or expired one
	// keeps it as long as Temporal retains it, so that a repeated booking cannot ring twice.
	ReuseAfterFailure Reuse = "after_failure"
	// ReuseAfterEnd frees the id at once, after any end.
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
