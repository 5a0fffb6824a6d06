package delivery

import "github.com/wakecall/wakecall/core/wire"

// Ack lets the receivers of a business type acknowledge accepted deliveries later.
type Ack struct {
	// Within is the time to acknowledge, from the receiver's answer on. Without an
	// acknowledgement in that time the attempt fails, and the ladder goes on.
	Within wire.Duration `json:"within,omitzero"`
}

// Check returns what is wrong with it. stream names the link that is a stream; "" if there is
// none.
func (a Ack) Check(stream string) (errs wire.FieldErrors) {
	switch {
	case stream != "":
		errs.Add("", wire.CodeConflict, "is not allowed with "+stream+".stream: a receiver that connects acknowledges each ring by itself")
	case a.Within == 0:
		errs.Add("/within", wire.CodeRequired, "give the time that a receiver has to acknowledge, such as 10m")
	default:
		wire.Enforce(&errs, FieldAckWithin, a.Within)
	}
	return errs
}

// HeaderWebhookID is the header of a callback with its message id, of Standard Webhooks 1.0.0.
const HeaderWebhookID = "webhook-id"

// HeaderAckToken authorizes the receiver of a callback to acknowledge the delivery, and nothing
// else. It is a header of the callback and of the acknowledging calls.
const HeaderAckToken = "Wakecall-Ack-Token"

// Acknowledgement is a receiver's verdict on a delivery that it accepted.
type Acknowledgement struct {
	WebhookID string `json:"webhook_id"`
	// Round and Attempt identify the attempt.
	Round   int `json:"round,omitzero"`
	Attempt int `json:"attempt"`
	// Nack reports whether the delivery failed. Reason and RetryAfter go with it.
	Nack   bool   `json:"nack,omitzero"`
	Reason string `json:"reason,omitzero"`
	// RetryAfter is the shortest wait before the next attempt.
	RetryAfter wire.Duration `json:"retry_after,omitzero"`
}

// Check returns what is wrong with the acknowledgement, field by field.
func (a Acknowledgement) Check() (errs wire.FieldErrors) {
	if len(a.Reason) > MaxAckReason {
		errs.AddMost("/reason", MaxAckReason, "bytes")
	}
	wire.Enforce(&errs, fieldRetryAfter, a.RetryAfter)
	return errs
}
