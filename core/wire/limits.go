package wire

import "time"

// The limits of the contract, each with its reason.
const (
	// MaxBusinessTypeLen keeps the type usable as a metric label and a queue name.
	MaxBusinessTypeLen = 63
	// MaxBusinessIDLen keeps "type/id" under 255 bytes, the width of Temporal's
	// SQL columns (temporal#2122).
	MaxBusinessIDLen = 128
	// MaxAhead is how far in the future a timer may be due. Temporal silently caps a start delay
	// at 100 years, so our bound must be lower.
	MaxAhead = 10 * 365 * 24 * time.Hour
	// MaxNesting is the depth of arrays and objects in one timer or policy, including its
	// payload. Parsers in several languages fail at about a thousand.
	MaxNesting = 1000
	// MaxFailureMessage bounds a failure's text: Temporal truncates an activity failure near 4
	// KB.
	MaxFailureMessage = 512

	// MaxFieldErrors is the number of field errors that an answer names. MaxPointer and
	// MaxFieldErrorDetail bound each of them, in bytes. An answer must not be larger than the
	// request.
	MaxFieldErrors      = 100
	MaxPointer          = 256
	MaxFieldErrorDetail = 512
	// MaxNote bounds the note of a pause, in bytes. The memo stores it.
	MaxNote = 256
)
