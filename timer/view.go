package timer

// View is what a reader is shown of a timer.
type View struct {
	Key
	Status        Status   `json:"status"`
	DueAt         Instant  `json:"due_at"`
	LatestAt      Instant  `json:"latest_at,omitzero"`
	Revision      int      `json:"revision"`
	Attempts      int      `json:"attempts"`
	NextAttemptAt Instant  `json:"next_attempt_at,omitzero"`
	LastFailure   *Failure `json:"last_failure,omitempty"`
	DeliveredAt   Instant  `json:"delivered_at,omitzero"`
	LatenessMS    *int64   `json:"lateness_ms,omitempty"`
	WebhookID     string   `json:"webhook_id"`
	Priority      int      `json:"priority"`
	CreatedAt     Instant  `json:"created_at"`
	RunID         string   `json:"run_id"`
	FirstRunID    string   `json:"first_run_id,omitzero"`
	Links         Links    `json:"links"`
	Card          Card     `json:"-"`
}

// Links lead from a timer to where it can be looked at.
type Links struct {
	WebUI string `json:"web_ui,omitzero"`
}
