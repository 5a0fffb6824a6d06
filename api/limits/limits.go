package limits

import "github.com/wakecall/wakecall/core/dispatch"

const (
	// MaxBody holds one timer, in bytes: a payload of the largest size in base64, and
	// room for the rest.
	MaxBody = 128 << 10
	// MaxBatch is how many timers one call books.
	MaxBatch = 1000
	// MaxBatchBody holds a batch, in bytes.
	MaxBatchBody = 16 << 20
	// MaxElements bounds every array in a body, counted before it is built: those of a batch
	// and of the inline items of a dispatch are the longest.
	MaxElements = max(MaxBatch, dispatch.MaxInlineItems)
	// MaxMembers bounds every object in a body in the same way, but for payloads. Those of
	// labels and headers have lower bounds of their own.
	MaxMembers = 200
	// MaxBatchFieldErrors is how many field errors the answer to a batch names. Past them
	// each item names one.
	MaxBatchFieldErrors = 1000
	// DefaultPageSize is how many timers a page of a list has.
	DefaultPageSize = 100
	// MaxPageSize is how many it may have.
	MaxPageSize = 1000
	// DefaultJobs is how many jobs a page of a list has. Each costs a call of Temporal, which
	// tells how far it is.
	DefaultJobs = 20
	// MaxJobs is how many it may have.
	MaxJobs = 100
	// DefaultRuns is how many runs a page of attempts covers. Each costs a read of its history.
	DefaultRuns = 20
	// MaxRuns is how many it may cover.
	MaxRuns = 100
	// DefaultWindow is how many rings a receiver that is connected has at once before it answers
	// one.
	DefaultWindow = 16
	// MaxWindow is how many it may have.
	MaxWindow = 256
	// MaxStreamAnswer bounds one message of a receiver, in bytes.
	MaxStreamAnswer = 4 << 10
	// WebSocketKeyBytes is the size of a nonce (RFC 6455).
	WebSocketKeyBytes = 16
	// MaxDispatchBody holds a dispatch with its inline items, in bytes: their payloads,
	// and as much again for the rest.
	MaxDispatchBody = 2 * dispatch.MaxInlineBytes
	// MaxItemLine holds one item of an upload, in bytes, and itemSlack what of an item is
	// not its payload.
	MaxItemLine = dispatch.MaxItem + itemSlack
	itemSlack   = 1 << 10
	// MaxIdempotencyKey is what common clients send at most, in characters.
	MaxIdempotencyKey = 255
)
