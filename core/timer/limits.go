package timer

import "time"

// The limits of timers, each with its reason.
const (
	// MaxPayload bounds the bytes handed to a receiver. Temporal warns at
	// 256 KiB for a blob; Standard Webhooks advises 20 kB.
	MaxPayload = 64 << 10
	// MaxPast is how long ago a due time may lie. It is below the
	// deduplication window, so that a late repeat of an old booking cannot
	// ring a second time.
	MaxPast = 24 * time.Hour
	// MaxLabels, MaxLabelKey and MaxLabelValue bound the labels of a timer, in
	// characters. They are kept in the memo, for which Temporal advises 2 KB.
	MaxLabels     = 8
	MaxLabelKey   = 32
	MaxLabelValue = 64
	// MaxContentTypeLen bounds the payload's content type.
	MaxContentTypeLen = 255
	// MaxExtras is how many extra rings of a recurring timer wait behind the one that is under
	// way: each takes a delivery, and more of them are a mistake.
	MaxExtras = 100

	// MaxEarlierKeys is how many idempotency keys of earlier bookings of its id a timer
	// remembers. They tell of those that visibility may not show yet.
	MaxEarlierKeys = 8
	// MaxRefusals is how many refused changes a timer goes on showing. They are
	// kept in the memo, for which Temporal advises 2 KB.
	MaxRefusals = 5
	// MaxRefusalBytes bounds the field errors of one of them. It has room for two of the
	// longest.
	MaxRefusalBytes = 2 << 10
)
