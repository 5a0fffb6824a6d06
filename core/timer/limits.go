package timer

import "time"

// The limits of timers, each with its reason.
const (
	// MaxPayload bounds the bytes of a payload. Temporal warns at 256 KiB for a blob; Standard
	// Webhooks advises 20 kB.
	MaxPayload = 64 << 10
	// MaxPast is how far in the past a due time may lie. It is below the deduplication window,
	// so that a late repeat of an old booking cannot ring a second time.
	MaxPast = 24 * time.Hour
	// MaxLabels, MaxLabelKey and MaxLabelValue bound the labels of a timer, in characters. The
	// memo stores them, and Temporal advises 2 KB for it.
	MaxLabels     = 8
	MaxLabelKey   = 32
	MaxLabelValue = 64
	// MaxContentTypeLen bounds the payload's content type.
	MaxContentTypeLen = 255
	// MaxExtras is how many extra rings of a recurring timer wait behind the current one. Each
	// needs a delivery, and more of them are a mistake.
	MaxExtras = 100

	// MaxEarlierKeys is how many idempotency keys of earlier bookings of its id a timer stores.
	// They find bookings that visibility may not show yet.
	MaxEarlierKeys = 8
	// MaxRefusals is how many refused changes a timer shows. The memo stores them, and Temporal
	// advises 2 KB for it.
	MaxRefusals = 5
	// MaxRefusalBytes bounds the field errors of one refusal. The two longest fit.
	MaxRefusalBytes = 2 << 10
)
