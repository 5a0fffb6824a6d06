package timers

import (
	"encoding/base64"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

// TermsZeros are the fields of a timer that refuse a zero.
var TermsZeros = decode.RefusingZero(timer.Fields())

// Body is a timer as a client writes it.
type Body struct {
	BusinessType *string `json:"business_type"`
	BusinessID   *string `json:"business_id"`
	TermsBody
}

// TermsBody is what a client may say about a timer.
type TermsBody struct {
	DueAt         *wire.Instant      `json:"due_at"`
	DueLocal      *wire.Wall         `json:"due_local"`
	Timezone      *string            `json:"timezone"`
	Delay         *wire.Duration     `json:"delay"`
	MaxWait       *wire.Duration     `json:"max_wait"`
	Recurrence    *recurrence.Rule   `json:"recurrence"`
	LatestAt      *wire.Instant      `json:"latest_at"`
	ExpiresAfter  *wire.Duration     `json:"expires_after"`
	Payload       jsontext.Value     `json:"payload"`
	PayloadBase64 *string            `json:"payload_base64"`
	ContentType   *string            `json:"content_type"`
	Callback      *delivery.Callback `json:"callback"`
	Retry         *delivery.Retry    `json:"retry"`
	Priority      *int               `json:"priority"`
	Labels        *timer.Labels      `json:"labels"`
	OnDelivered   *delivery.Alert    `json:"on_delivered"`
	OnFailed      *delivery.Alert    `json:"on_failed"`
	Paused        *bool              `json:"paused"`
}

// ReadBooking reads a whole timer from a body.
func ReadBooking(o decode.Object, reach delivery.Reach) (bookings.Request, error) {
	var body Body
	errs := append(o.Fill(&body), o.Zeros(TermsZeros)...)
	return body.request(wire.Key{BusinessType: decode.Value(body.BusinessType), BusinessID: decode.Value(body.BusinessID)}, errs, reach)
}

// ReadAmendment reads the terms of a timer whose key stands in the path. A body
// may repeat the key.
func ReadAmendment(o decode.Object, key wire.Key, reach delivery.Reach) (bookings.Request, error) {
	var body Body
	errs := append(o.Fill(&body), o.Zeros(TermsZeros)...)
	errs.Complete(body.elsewhere(key))
	return body.request(key, errs, reach)
}

// elsewhere returns what is wrong with a body that repeats the key in its path.
func (b Body) elsewhere(key wire.Key) (errs wire.FieldErrors) {
	if b.BusinessType != nil && *b.BusinessType != key.BusinessType {
		errs.Add("/business_type", wire.CodeConflict, "must match the path")
	}
	if b.BusinessID != nil && *b.BusinessID != key.BusinessID {
		errs.Add("/business_id", wire.CodeConflict, "must match the path")
	}
	return errs
}

// ExtractOutcomes removes from a body the outcomes that a change switches off. A change does so
// with an empty object; a booking has to name a receiver.
func ExtractOutcomes(o decode.Object) (removed timer.Terms) {
	for name, outcome := range map[string]**delivery.Alert{"on_delivered": &removed.OnDelivered, "on_failed": &removed.OnFailed} {
		if members := o.Nested(name); members != nil && len(members) == 0 {
			delete(o, name)
			*outcome = &delivery.Alert{}
		}
	}
	return removed
}

// request completes a body. When some of it could not be read, the rest is
// checked all the same, so that one answer names every field error.
func (b Body) request(key wire.Key, errs wire.FieldErrors, reach delivery.Reach) (bookings.Request, error) {
	terms, more := b.Terms()
	errs.Complete(more)
	if len(errs) > 0 {
		errs.Complete(append(key.Check(), terms.Check(time.Now())...))
		errs.Complete(terms.CheckReach(reach))
	}
	return bookings.Request{Key: key, Terms: terms}, errs.Err()
}

// Terms returns what the body says. What cannot be read is left out and named in errs.
func (b TermsBody) Terms() (terms timer.Terms, errs wire.FieldErrors) {
	terms = timer.Terms{
		DueAt: b.DueAt, DueLocal: b.DueLocal, Timezone: decode.Value(b.Timezone), Delay: b.Delay, MaxWait: b.MaxWait,
		Recurrence: b.Recurrence, LatestAt: b.LatestAt, ExpiresAfter: b.ExpiresAfter,
		Callback: b.Callback, Retry: b.Retry, Priority: b.Priority, Labels: b.Labels, OnDelivered: b.OnDelivered, OnFailed: b.OnFailed,
		Paused: b.Paused,
	}
	if terms.Callback != nil {
		terms.Callback.URL = decode.ASCIIHost(terms.Callback.URL)
	}
	decode.ASCIIHosts(terms.OnDelivered, terms.OnFailed)
	terms.Payload, errs = b.payload()
	return terms, errs
}

func (b TermsBody) payload() (payload *timer.Payload, errs wire.FieldErrors) {
	switch {
	case b.Payload != nil && b.PayloadBase64 != nil:
		errs.Add("/payload_base64", wire.CodeConflict, "give either payload or payload_base64")
	case b.Payload != nil && b.ContentType != nil:
		errs.Add("/content_type", wire.CodeConflict, "is allowed only with payload_base64; payload is always "+timer.ContentTypeJSON)
	case b.Payload != nil:
		return &timer.Payload{Data: b.Payload, ContentType: timer.ContentTypeJSON}, nil
	case b.PayloadBase64 != nil:
		data, err := base64.StdEncoding.Strict().DecodeString(*b.PayloadBase64)
		if err != nil {
			errs.Add("/payload_base64", wire.CodeInvalidBase64, "must be standard base64 with padding")
			return nil, errs
		}
		return &timer.Payload{Data: data, ContentType: decode.Value(b.ContentType), Base64: true}, nil
	case b.ContentType != nil:
		errs.AddBeside("/content_type", wire.CodeConflict, "is allowed only with payload_base64", "/payload_base64")
	}
	return nil, errs
}
