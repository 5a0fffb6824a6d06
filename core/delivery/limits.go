package delivery

import "time"

// The limits of callbacks and their attempts, each with its reason.
const (
	// MaxURLLen is the longest callback URL.
	MaxURLLen = 2048
	// MaxShortString is the longest exchange or routing key of AMQP, in bytes.
	MaxShortString = 255
	// MaxHeaders, MaxHeaderName and MaxHeaderValue bound the extra headers of a callback.
	MaxHeaders     = 20
	MaxHeaderName  = 64
	MaxHeaderValue = 1024

	// DefaultAttemptTimeout is how long one attempt may take.
	DefaultAttemptTimeout = 10 * time.Second
	// MinAttemptTimeout and MaxAttemptTimeout bound it; above 60 s a receiver
	// should answer first and work later.
	MinAttemptTimeout = 10 * time.Millisecond
	MaxAttemptTimeout = 60 * time.Second

	// DefaultFallbackAfter is how long a callback must have failed before its type goes
	// over to the fallback: longer than the restart of a receiver takes.
	DefaultFallbackAfter = 30 * time.Second
	MinFallbackAfter     = time.Second
	MaxFallbackAfter     = 24 * time.Hour

	// MinAckWithin and MaxAckWithin bound how long a receiver has to acknowledge what it
	// accepted: what takes longer than a week is a timer of its own.
	MinAckWithin = time.Second
	MaxAckWithin = 7 * 24 * time.Hour
	// MaxAckReason bounds the reason of a nack, in bytes. It is part of a failure's text.
	MaxAckReason = 400

	// MaxRetryStep is the longest wait between two attempts.
	MaxRetryStep = 30 * 24 * time.Hour
	// MaxAttempts bounds a ladder of either kind, the first attempt included.
	MaxAttempts = 100
	// MaxMultiplier bounds the growth of an exponential ladder.
	MaxMultiplier = 100
	// MaxRetryAfter caps what a receiver may ask for with Retry-After, and is the
	// default of a policy's own cap.
	MaxRetryAfter = time.Hour

	// MaxResponseRead is how much of a receiver's answer is read.
	MaxResponseRead = 4 << 10
	// MaxAnswer is how much of a failed answer is kept, and MaxAnswers of how many
	// attempts: the record travels with each retry.
	MaxAnswer  = 1 << 10
	MaxAnswers = 10
)
