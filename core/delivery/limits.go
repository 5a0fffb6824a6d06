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

	// DefaultAttemptTimeout is the time limit of one attempt.
	DefaultAttemptTimeout = 10 * time.Second
	// MinAttemptTimeout and MaxAttemptTimeout bound it. Above 60 s a receiver should answer
	// first and work later.
	MinAttemptTimeout = 10 * time.Millisecond
	MaxAttemptTimeout = 60 * time.Second

	// DefaultFallbackAfter is how long a callback must have failed before its type uses the
	// fallback. It is longer than the restart of a receiver.
	DefaultFallbackAfter = 30 * time.Second
	MinFallbackAfter     = time.Second
	MaxFallbackAfter     = 24 * time.Hour

	// MinAckWithin and MaxAckWithin bound a receiver's time to acknowledge. Work of more than a
	// week needs a timer.
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
	// MaxRetryAfter caps a receiver's Retry-After, and is the default of a policy's own cap.
	MaxRetryAfter = time.Hour

	// MaxResponseRead bounds how much of a receiver's answer is read, in bytes.
	MaxResponseRead = 4 << 10
	// MaxAnswer is how much of a failed answer is stored, in bytes. MaxAnswers bounds the
	// attempts with one, because the record travels with each retry.
	MaxAnswer  = 1 << 10
	MaxAnswers = 10
)
