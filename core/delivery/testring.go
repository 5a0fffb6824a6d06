package delivery

import "github.com/wakecall/wakecall/core/wire"

// EventTest is the type of the event that a test ring sends.
const EventTest = "wakecall.test"

// TestRing asks for one test event to a link of a business type. It is no timer: it has one attempt,
// and nothing waits for it.
type TestRing struct {
	BusinessType string       `json:"business_type"`
	Link         Link         `json:"link"`
	WebhookID    string       `json:"webhook_id"`
	At           wire.Instant `json:"at"`
}

// TestResult is the result of a test ring. A receiver that is at fault is a result, and no error.
type TestResult struct {
	Link      Link   `json:"link"`
	WebhookID string `json:"webhook_id"`
	// Delivered reports whether the receiver took the event.
	Delivered bool `json:"delivered"`
	// Status is the status of an HTTP answer, 0 for none. Class is why it is not delivered.
	Status int          `json:"status,omitzero"`
	Class  FailureClass `json:"class,omitzero"`
	// Detail says more of the failure, without addresses.
	Detail string       `json:"detail,omitzero"`
	SentAt wire.Instant `json:"sent_at"`
	TookMS int64        `json:"took_ms"`
	// Signed reports whether the policy has a secret that signed it.
	Signed bool     `json:"signed"`
	TLS    *TLSSeen `json:"tls,omitempty"`
	// Answer is the first KiB of the answer, if it is text.
	Answer string `json:"answer,omitzero"`
}

// TLSSeen is the connection over which a message left.
type TLSSeen struct {
	Version string `json:"version"`
	// Subject and Until are of the receiver's certificate.
	Subject string       `json:"subject"`
	Until   wire.Instant `json:"until"`
}
