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

// Terms are what may be said about a timer. What is left out has its default in a
// booking, and stays as it is in a change.
type Terms struct {
	// DueAt, DueLocal, Delay and Recurrence exclude one another. DueLocal is read in
	// Timezone, an IANA name.
	DueAt    wire.Instant   `json:"due_at,omitzero"`
	DueLocal wire.Wall      `json:"due_local,omitzero"`
	Timezone string         `json:"timezone,omitzero"`
	Delay    *wire.Duration `json:"delay,omitempty"`
	// MaxWait, beside Delay, bounds how far a timer that is put again and again is
	// pushed out.
	MaxWait    *wire.Duration   `json:"max_wait,omitempty"`
	Recurrence *recurrence.Rule `json:"recurrence,omitempty"`
	// LatestAt and ExpiresAfter, which counts from the due time, exclude one another.
	LatestAt     wire.Instant   `json:"latest_at,omitzero"`
	ExpiresAfter *wire.Duration `json:"expires_after,omitempty"`
	// Payload is handed to the receiver byte for byte; see [JSON]. Bytes, with their
	// ContentType, stand in its place for what is no JSON.
	Payload     json.RawMessage `json:"payload,omitempty"`
	Bytes       []byte          `json:"payload_base64,omitempty"`
	ContentType string          `json:"content_type,omitempty"`
	// Callback and Retry override the policy's.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	Priority int                `json:"priority,omitzero"`
	// Labels mark the timer, to find it by ([Filter]). In a change they replace those that
	// there are; none at all take them away.
	Labels *timer.Labels `json:"labels,omitempty"`
	// OnDelivered and OnFailed name who is told how the delivery ended.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Paused is whether a one-shot timer waits to be resumed; nil leaves it as it is in a
	// change. A recurring one says so in its rule.
	Paused *bool `json:"paused,omitempty"`
}

// After is a delay, or any other length of time that may be left out.
func After(d time.Duration) *wire.Duration {
	duration := wire.Duration(d)
	return &duration
}

// JSON is a payload. What is JSON already, a [json.RawMessage], is kept as it is. A value
// that is no JSON, such as a channel, is refused when the timer is booked.
func JSON(value any) json.RawMessage {
	if raw, ok := value.(json.RawMessage); ok && len(raw) > 0 {
		return raw
	}
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(err.Error()) // which is no JSON either
	}
	return text
}
