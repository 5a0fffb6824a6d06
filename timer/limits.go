package timer

import "time"

// The limits of the contract, each with its reason.
const (
	// MaxBusinessTypeLen keeps the type usable as a metric label and a queue name.
	MaxBusinessTypeLen = 63
	// MaxBusinessIDLen keeps "type/id" under 255 bytes, the width of Temporal's
	// SQL columns (temporal#2122).
	MaxBusinessIDLen = 128
	// MaxPayload bounds the bytes handed to a receiver. Temporal warns at
	// 256 KiB for a blob; Standard Webhooks advises 20 kB.
	MaxPayload = 64 << 10
	// MaxAhead is how far in the future a timer may be due. Temporal caps a
	// start delay at 100 years in silence, so a bound of ours must come first.
	MaxAhead = 10 * 365 * 24 * time.Hour
	// MaxPast is how long ago a due time may lie. It is below the
	// deduplication window, so that a late repeat of an old booking cannot
	// ring a second time.
	MaxPast = 24 * time.Hour

	// MaxURLLen is the longest callback URL.
	MaxURLLen = 2048
	// MaxHeaders, MaxHeaderName and MaxHeaderValue bound the extra headers of a callback.
	MaxHeaders     = 20
	MaxHeaderName  = 64
	MaxHeaderValue = 1024
	// MaxContentTypeLen bounds the payload's content type.
	MaxContentTypeLen = 255

	// DefaultAttemptTimeout is how long one attempt may take.
	DefaultAttemptTimeout = 10 * time.Second
	// MinAttemptTimeout and MaxAttemptTimeout bound it; above 60 s a receiver
	// should answer first and work later.
	MinAttemptTimeout = 10 * time.Millisecond
	MaxAttemptTimeout = 60 * time.Second

	// MaxRetryStep is the longest wait between two attempts.
	MaxRetryStep = 30 * 24 * time.Hour
	// MaxAttempts bounds a ladder of either kind, the first attempt included.
	MaxAttempts = 100
	// MaxRetryAfter caps what a receiver may ask for with Retry-After.
	MaxRetryAfter = time.Hour

	// MaxResponseRead is how much of a receiver's answer is read.
	MaxResponseRead = 4 << 10
	// MaxFailureMessage bounds a failure's text: Temporal truncates an
	// activity failure near 4 KB.
	MaxFailureMessage = 512

	// MinPriority is the most urgent, MaxPriority the least (Temporal's scale).
	MinPriority     = 1
	MaxPriority     = 5
	DefaultPriority = 3

	// MaxSecrets is how many signing secrets may be valid at once.
	MaxSecrets = 3
)
