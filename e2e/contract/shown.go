package contract

import "time"

// JSON is a JSON body to send.
type JSON map[string]any

// Timer is a timer in the API's JSON. It uses none of Wakecall's own types.
type Timer struct {
	BusinessType    string    `json:"business_type"`
	BusinessID      string    `json:"business_id"`
	Status          string    `json:"status"`
	CancelRequested bool      `json:"cancel_requested"`
	DueAt           time.Time `json:"due_at"`
	LatestAt        time.Time `json:"latest_at"`
	Revision        int       `json:"revision"`
	Round           int       `json:"round"`
	Attempts        int       `json:"attempts"`
	NextAttemptAt   time.Time `json:"next_attempt_at"`
	AckUntil        time.Time `json:"ack_until"`
	WaitsFor        string    `json:"waits_for"`
	WaitsUntil      time.Time `json:"waits_until"`
	WaitsSince      time.Time `json:"waits_since"`
	WaitsBy         string    `json:"waits_by"`
	WaitsNote       string    `json:"waits_note"`
	DeliveredAt     time.Time `json:"delivered_at"`
	LatenessMS      *int64    `json:"lateness_ms"`
	Link            string    `json:"link"`
	WebhookID       string    `json:"webhook_id"`
	CreatedAt       time.Time `json:"created_at"`
	RunID           string    `json:"run_id"`
	FirstRunID      string    `json:"first_run_id"`
	LastFailure     struct {
		Status  int       `json:"status"`
		Message string    `json:"message"`
		At      time.Time `json:"at"`
	} `json:"last_failure"`
	Links struct {
		WebUI string `json:"web_ui"`
	} `json:"links"`
}

// Problem is a problem document.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Code    string `json:"code"`
	} `json:"errors"`
	Timer *Timer `json:"timer"`
}
