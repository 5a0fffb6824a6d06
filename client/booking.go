package client

import (
	"encoding/json"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Booking books a timer.
type Booking struct {
	wire.Key
	Terms
}

// Terms are the content of a timer. A field left out has its default in a booking, and stays
// unchanged in a change.
type Terms struct {
	// DueAt, DueLocal, Delay and Recurrence exclude one another. DueLocal is a time in Timezone,
	// an IANA name.
	DueAt    wire.Instant   `json:"due_at,omitzero"`
	DueLocal wire.Wall      `json:"due_local,omitzero"`
	Timezone string         `json:"timezone,omitzero"`
	Delay    *wire.Duration `json:"delay,omitempty"`
	// MaxWait, beside Delay, bounds how far repeated PUTs postpone a timer.
	MaxWait    *wire.Duration   `json:"max_wait,omitempty"`
	Recurrence *recurrence.Rule `json:"recurrence,omitempty"`
	// LatestAt and ExpiresAfter, which counts from the due time, exclude one another.
	LatestAt     wire.Instant   `json:"latest_at,omitzero"`
	ExpiresAfter *wire.Duration `json:"expires_after,omitempty"`
	// Payload reaches the receiver byte for byte; see [JSON]. For content that is not JSON, set
	// Bytes and ContentType instead.
	Payload     json.RawMessage `json:"payload,omitempty"`
	Bytes       []byte          `json:"payload_base64,omitempty"`
	ContentType string          `json:"content_type,omitempty"`
	// Callback and Retry override the policy's.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	Priority int                `json:"priority,omitzero"`
	// Labels mark the timer for searches by [Filter]. In a change they replace the present ones;
	// an empty map removes them.
	Labels *timer.Labels `json:"labels,omitempty"`
	// OnDelivered and OnFailed name the recipients of outcomes.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Paused reports whether a one-shot timer is paused; nil leaves it unchanged in a change. A
	// recurring timer has it in its rule.
	Paused *bool `json:"paused,omitempty"`
}

// After returns a delay, or another optional duration.
func After(d time.Duration) *wire.Duration {
	duration := wire.Duration(d)
	return &duration
}

// JSON returns a payload. It leaves a [json.RawMessage] as it is. A value that cannot be JSON,
// such as a channel, is refused at the booking.
func JSON(value any) json.RawMessage {
	if raw, ok := value.(json.RawMessage); ok && len(raw) > 0 {
		return raw
	}
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(err.Error()) // not JSON either
	}
	return text
}
