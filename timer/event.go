package timer

// EventType is what an alert is about.
type EventType string

// The closed list of events.
const (
	// EventFailed: a timer failed for good.
	EventFailed EventType = "timer.failed"
	// EventExpired: a timer's latest time passed before success.
	EventExpired EventType = "timer.expired"
	// EventBackPressure: a receiver asked for patience and its type is held.
	EventBackPressure EventType = "policy.back_pressure"
	// EventOverdue: timers should have rung and nothing is under way for them.
	EventOverdue EventType = "timers.overdue"
)

// Event is what an alert says, in the form of Standard Webhooks 1.0.0.
type Event struct {
	Type EventType `json:"type"`
	At   Instant   `json:"timestamp"`
	Data EventData `json:"data"`
}

// EventData is about one timer, or about a whole business type.
type EventData struct {
	BusinessType string        `json:"business_type"`
	BusinessID   string        `json:"business_id,omitzero"`
	DueAt        Instant       `json:"due_at,omitzero"`
	Attempts     int           `json:"attempts,omitzero"`
	WebhookID    string        `json:"webhook_id,omitzero"`
	LastFailure  *Failure      `json:"last_failure,omitempty"`
	BackPressure *BackPressure `json:"back_pressure,omitempty"`
	// Overdue counts the timers that are late.
	Overdue int `json:"overdue,omitzero"`
}
