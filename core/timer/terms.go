package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// RefuseTimes returns an error for each field that sets when a timer rings.
func (t Terms) RefuseTimes() (errs wire.FieldErrors) {
	for _, field := range []struct {
		pointer string
		said    bool
	}{
		{"/due_at", t.DueAt != nil}, {"/due_local", t.DueLocal != nil}, {"/timezone", t.Timezone != ""}, {"/delay", t.Delay != nil},
		{"/max_wait", t.MaxWait != nil}, {"/recurrence", t.Recurrence != nil},
		{"/paused", t.Paused != nil},
	} {
		if field.said {
			errs.Add(field.pointer, wire.CodeConflict, "is not content; move timers by a shift")
		}
	}
	return errs
}

// CheckReach returns what is wrong with the destinations of a timer.
func (t Terms) CheckReach(r delivery.Reach) (errs wire.FieldErrors) {
	errs = r.Callback(t.Callback)
	if t.OnDelivered != nil {
		errs.Under("/on_delivered", r.Destination(t.OnDelivered.Destination))
	}
	if t.OnFailed != nil {
		errs.Under("/on_failed", r.Destination(t.OnFailed.Destination))
	}
	return errs
}

// Terms are a client's request for a timer. A nil field was left out.
type Terms struct {
	// DueAt, DueLocal, Delay and Recurrence exclude one another.
	DueAt *wire.Instant `json:"due_at,omitempty"`
	// DueLocal is a time in Timezone, an IANA name. Stored terms also have its moment as DueAt.
	DueLocal   *wire.Wall       `json:"due_local,omitempty"`
	Timezone   string           `json:"timezone,omitzero"`
	Delay      *wire.Duration   `json:"delay,omitempty"`
	Recurrence *recurrence.Rule `json:"recurrence,omitempty"`
	// MaxWait, beside Delay, bounds how far repeated PUTs postpone a timer, counted from the
	// first one.
	MaxWait *wire.Duration `json:"max_wait,omitempty"`
	// LatestAt and ExpiresAfter, which counts from the due time, exclude one another.
	LatestAt     *wire.Instant  `json:"latest_at,omitempty"`
	ExpiresAfter *wire.Duration `json:"expires_after,omitempty"`
	Payload      *Payload       `json:"payload,omitempty"`
	// Callback and Retry override the policy's.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	Priority *int               `json:"priority,omitempty"`
	// Labels replace the present labels.
	Labels *Labels `json:"labels,omitempty"`
	// OnDelivered and OnFailed replace the policy's.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Paused reports whether a one-shot timer is paused.
	Paused *bool `json:"paused,omitempty"`
}

// Payload is handed to the receiver byte for byte.
type Payload struct {
	Data        []byte `json:"data"`
	ContentType string `json:"content_type"`
	// Base64 reports whether the client sent base64 and not JSON text.
	Base64 bool `json:"base64,omitzero"`
}

// ContentTypeJSON is the content type of payloads booked as JSON.
const ContentTypeJSON = "application/json"

// Fingerprint returns a digest of the client's terms, to recognize a repeated request.
func (t Terms) Fingerprint() string {
	if t.Paused != nil && !*t.Paused { // the default
		t.Paused = nil
	}
	// Terms hold no channel, function or cycle: they always marshal.
	text, _ := json.Marshal(t)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// IsZero reports whether the terms are empty.
func (t Terms) IsZero() bool { return t == Terms{} }

// Due returns the due time of the terms; ok is false if they have none.
func (t Terms) Due(now time.Time) (due wire.Instant, ok bool) {
	switch {
	case t.DueAt != nil:
		return *t.DueAt, true
	case t.Delay != nil:
		return wire.At(now.Add(t.Delay.D())), true
	case t.DueLocal != nil:
		due, err := t.DueLocal.In(t.Timezone)
		return due, err == nil
	default:
		return 0, false
	}
}

// Check returns what is wrong with the terms alone, field by field. Checks against a timer
// happen when they are applied to it.
func (t Terms) Check(now time.Time) (errs wire.FieldErrors) {
	errs = append(errs, t.checkDue(now)...)
	errs = append(errs, t.checkLatest(now)...)
	if t.Payload != nil {
		errs = append(errs, t.Payload.check()...)
	}
	if t.Callback != nil {
		errs.Under("/callback", t.Callback.Check())
		if t.Callback.Stream {
			errs.Add("/callback/stream", wire.CodeConflict, "belongs in the policy of the business type")
		}
	}
	if t.Retry != nil {
		errs.Under("/retry", t.Retry.Check())
	}
	wire.EnforceGiven(&errs, policy.FieldPriority, t.Priority)
	if t.Labels != nil {
		errs.Under("/labels", t.Labels.Check())
	}
	errs = append(errs, delivery.CheckOutcomes(t.OnDelivered, t.OnFailed)...)
	return errs
}

// CheckChange is [Terms.Check] for a change. In a change, an empty destination of an outcome
// removes the timer's own.
func (t Terms) CheckChange(now time.Time) wire.FieldErrors {
	t.OnDelivered, t.OnFailed = t.OnDelivered.OrNil(), t.OnFailed.OrNil()
	return t.Check(now)
}

func (t Terms) checkDue(now time.Time) (errs wire.FieldErrors) {
	if t.DueAt != nil && t.Delay != nil {
		errs.Add("/delay", wire.CodeConflict, "give either due_at or delay")
	}
	if t.Recurrence != nil {
		errs = append(errs, t.checkRecurrence(now)...)
	}
	wire.EnforceGiven(&errs, FieldDelay, t.Delay)
	errs = append(errs, t.checkLocal()...)
	errs = append(errs, t.checkDebounce()...)
	if due, ok := t.Due(now); ok && t.Delay == nil {
		switch ahead := due.Until(now); {
		case ahead < -MaxPast:
			errs.Add(t.duePointer(), wire.CodeOutOfRange, "must not be more than "+wire.Duration(MaxPast).String()+" ago")
		case ahead > wire.MaxAhead:
			errs.Add(t.duePointer(), wire.CodeOutOfRange, wire.TooFarAhead)
		}
	}
	return errs
}

// duePointer returns the pointer to the due time in a body.
func (t Terms) duePointer() string {
	if t.DueLocal != nil {
		return "/due_local"
	}
	return "/due_at"
}

func (t Terms) checkRecurrence(now time.Time) (errs wire.FieldErrors) {
	if t.DueAt != nil || t.Delay != nil || t.DueLocal != nil {
		errs.Add("/recurrence", wire.CodeConflict, "give one of due_at, due_local, delay and recurrence")
	}
	if t.LatestAt != nil {
		errs.Add("/latest_at", wire.CodeConflict, "is allowed only with a single due time; use expires_after")
	}
	if t.Paused != nil {
		errs.Add("/paused", wire.CodeConflict, "is allowed only with a single due time; a recurrence has its own")
	}
	errs.Under("/recurrence", t.Recurrence.Check(now))
	return errs
}

func (t Terms) checkLatest(now time.Time) (errs wire.FieldErrors) {
	if t.LatestAt != nil && t.ExpiresAfter != nil {
		errs.Add("/expires_after", wire.CodeConflict, "give either latest_at or expires_after")
	}
	wire.EnforceGiven(&errs, policy.FieldExpiresAfter, t.ExpiresAfter)
	if t.LatestAt != nil && t.LatestAt.Until(now) <= 0 {
		errs.Add("/latest_at", wire.CodeOutOfRange, "must not have passed")
	}
	return errs
}

func (p Payload) check() (errs wire.FieldErrors) {
	pointer := "/payload"
	if p.Base64 {
		pointer = "/payload_base64"
	}
	if len(p.Data) > MaxPayload {
		errs.AddMost(pointer, MaxPayload, "bytes")
	}
	if p.Base64 && (len(p.ContentType) > MaxContentTypeLen || !strings.Contains(p.ContentType, "/") ||
		strings.ContainsFunc(p.ContentType, func(r rune) bool { return r != ' ' && wire.NotVisibleASCII(r) })) {
		errs.Add("/content_type", wire.CodeRequired, "must be a media type such as application/octet-stream")
	}
	return errs
}
