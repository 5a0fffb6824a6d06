package send

import "github.com/wakecall/wakecall/core/delivery"

// The headers of Standard Webhooks 1.0.0.
const (
	HeaderWebhookID        = delivery.HeaderWebhookID
	HeaderWebhookTimestamp = "webhook-timestamp"
	HeaderWebhookSignature = "webhook-signature"
)

// HeaderAckToken is described with [delivery.HeaderAckToken].
const HeaderAckToken = delivery.HeaderAckToken

// The headers of a callback beside those of Standard Webhooks.
const (
	HeaderBusinessType = "Wakecall-Business-Type"
	HeaderBusinessID   = "Wakecall-Business-Id"
	HeaderDueAt        = "Wakecall-Due-At"
	HeaderAttempt      = "Wakecall-Attempt"
	HeaderRevision     = "Wakecall-Revision"
	// HeaderOccurrence numbers the rings of a recurring timer, from 1.
	HeaderOccurrence = "Wakecall-Occurrence"
	// HeaderDispatch is the id of the dispatch that an item belongs to.
	HeaderDispatch = "Wakecall-Dispatch"
	// HeaderShard is the shard of a dispatch in a request to a loader.
	HeaderShard = "Wakecall-Shard"
)
