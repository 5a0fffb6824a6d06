package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// EventType is what an alert is about.
type EventType string

// The closed list of events.
const (
	// EventFailed: a timer failed for good.
	EventFailed EventType = "timer.failed"
	// EventExpired: a timer's latest time passed before success.
	EventExpired EventType = "timer.expired"
	// EventDelivered: a timer was delivered. Only who asks for outcomes is told.
	EventDelivered EventType = "timer.delivered"
	// EventBackPressure: a receiver asked for patience and its type is held.
	EventBackPressure EventType = "policy.back_pressure"
	// EventOverdue: timers should have rung and nothing is under way for them.
	EventOverdue EventType = "timers.overdue"
	// EventStreamWaits: timers wait for a receiver that is connected and has room.
	EventStreamWaits EventType = "stream.waits"
)

// Event is what an alert says, in the form of Standard Webhooks 1.0.0.
type Event struct {
	Type EventType    `json:"type"`
	At   wire.Instant `json:"timestamp"`
	Data EventData    `json:"data"`
	// Outcome reports whether the one is told who asked for the outcome, and not of the alert;
	// Own is where a timer that names somebody itself has that told. Both say where the
	// event goes, and are not sent.
	Outcome bool                  `json:"outcome,omitzero"`
	Own     *delivery.Destination `json:"own,omitempty"`
}

// Sent is the event as it is sent.
func (e Event) Sent() Event {
	e.Outcome, e.Own = false, nil
	return e
}

// Recipient is who is told of the event under the policy; ok is false for nobody.
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

// EventData is about one timer, or about a whole business type.
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
	// Waiting counts the timers that wait for a receiver to connect, and WaitingSince is
	// since when the first of them has.
	Waiting      int          `json:"waiting,omitzero"`
	WaitingSince wire.Instant `json:"waiting_since,omitzero"`
}
