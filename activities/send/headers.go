package send

// The headers of Standard Webhooks 1.0.0.
const (
	HeaderWebhookID        = "webhook-id"
	HeaderWebhookTimestamp = "webhook-timestamp"
	HeaderWebhookSignature = "webhook-signature"
)

// The headers of a callback beside those of Standard Webhooks.
const (
	HeaderBusinessType = "Wakecall-Business-Type"
	HeaderBusinessID   = "Wakecall-Business-Id"
	HeaderDueAt        = "Wakecall-Due-At"
	HeaderAttempt      = "Wakecall-Attempt"
	HeaderRevision     = "Wakecall-Revision"
	// HeaderOccurrence numbers the rings of a recurring timer, from 1.
	HeaderOccurrence = "Wakecall-Occurrence"
)
