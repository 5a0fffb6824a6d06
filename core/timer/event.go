package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// EventType is the subject of an alert.
type EventType string

// The closed list of events.
const (
	// EventFailed: a timer failed for good.
	EventFailed EventType = "timer.failed"
	// EventExpired: a timer's latest time passed before success.
	EventExpired EventType = "timer.expired"
	// EventDelivered: a timer was delivered. Only recipients of outcomes get it.
	EventDelivered EventType = "timer.delivered"
	// EventBackPressure: a receiver asked for a pause, and its type is held back.
	EventBackPressure EventType = "policy.back_pressure"
	// EventOverdue: timers should have rung, and no delivery is in progress.
	EventOverdue EventType = "timers.overdue"
	// EventStreamWaits: timers wait for a connected receiver with room.
	EventStreamWaits EventType = "stream.waits"
)

// Event is the content of an alert, in the form of Standard Webhooks 1.0.0.
type Event struct {
	Type EventType    `json:"type"`
	At   wire.Instant `json:"timestamp"`
	Data EventData    `json:"data"`
	// Outcome reports whether the event goes to the recipient of outcomes and not of alerts. Own
	// is the timer's own recipient, if it names one. Neither is sent.
	Outcome bool                  `json:"outcome,omitzero"`
	Own     *delivery.Destination `json:"own,omitempty"`
}

// Sent returns the event without the fields that are not sent.
func (e Event) Sent() Event {
	e.Outcome, e.Own = false, nil
	return e
}

// Recipient returns the destination of the event under the policy; ok is false if there is none.
func (e Event) Recipient(policy policy.Policy) (to delivery.Destination, ok bool) {
	alert := policy.Alert
	switch {
	case e.Own != nil:
		return *e.Own, true
	case e.Outcome && e.Type == EventDelivered:
		alert = policy.OnDelivered
	case e.Outcome:
		alert = policy.OnFailed
	}
	if alert == nil {
		return delivery.Destination{}, false
	}
	return alert.Destination, true
}

// EventData concerns one timer, or a whole business type.
type EventData struct {
	BusinessType string               `json:"business_type"`
	BusinessID   string               `json:"business_id,omitzero"`
	DueAt        wire.Instant         `json:"due_at,omitzero"`
	Attempts     int                  `json:"attempts,omitzero"`
	DeliveredAt  wire.Instant         `json:"delivered_at,omitzero"`
	LatenessMS   *int64               `json:"lateness_ms,omitempty"`
	WebhookID    string               `json:"webhook_id,omitzero"`
	LastFailure  *delivery.Failure    `json:"last_failure,omitempty"`
	BackPressure *policy.BackPressure `json:"back_pressure,omitempty"`
	// Overdue counts the timers that are late.
	Overdue int `json:"overdue,omitzero"`
	// Waiting counts the timers that wait for a receiver to connect. WaitingSince is when the
	// first of them began to wait.
	Waiting      int          `json:"waiting,omitzero"`
	WaitingSince wire.Instant `json:"waiting_since,omitzero"`
}
