package timer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Ruling is the closed set of things that can follow from one attempt.
type Ruling string

// What follows from an attempt.
const (
	// RuleDelivered ends the delivery with success.
	RuleDelivered Ruling = "delivered"
	// RuleRetry tries again on the ladder.
	RuleRetry Ruling = "retry"
	// RuleStop ends the delivery without success.
	RuleStop Ruling = "stop"
)

// Answer is what a receiver said, or why it said nothing.
type Answer struct {
	Status     int     // HTTP status; 0 when there was none
	Trouble    Trouble // set when Status is 0
	Detail     string  // what more may be told of the trouble
	RetryAfter string  // the Retry-After header as received
	NoRetry    bool    // the receiver asked not to be called again
}

// Verdict is what follows from an answer.
type Verdict struct {
	Ruling     Ruling
	RetryAfter time.Duration // what a 429 or 503 asked for; 0 without
}

// Judge applies the verdict table of the contract. Only the status 2xx
// delivers; 410, a request for no retry, a blocked address and a request that
// cannot be built stop; everything else is tried again.
func Judge(a Answer, now time.Time) Verdict {
	switch {
	case a.Status >= 200 && a.Status <= 299:
		return Verdict{Ruling: RuleDelivered}
	case a.NoRetry, a.Status == 410, a.Trouble == BlockedAddress, a.Trouble == BadRequest:
		return Verdict{Ruling: RuleStop}
	case a.Status == 429, a.Status == 503:
		return Verdict{Ruling: RuleRetry, RetryAfter: ParseRetryAfter(a.RetryAfter, now)}
	default:
		return Verdict{Ruling: RuleRetry}
	}
}

// retryAfterDates are the three date forms of RFC 9110, section 5.6.7.
var retryAfterDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC}

// ParseRetryAfter reads a Retry-After header (RFC 9110, section 10.2.3), in
// seconds of any number of digits or as a date, capped at [MaxRetryAfter].
// Anything else is 0.
func ParseRetryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if strings.Trim(header, "0123456789") == "" && header != "" {
		seconds, err := strconv.ParseUint(header, 10, 64)
		if most := uint64(MaxRetryAfter / time.Second); err != nil || seconds > most { // more digits than 64 bits hold
			seconds = most
		}
		return time.Duration(seconds) * time.Second
	}
	for _, layout := range retryAfterDates {
		if date, err := time.Parse(layout, header); err == nil {
			return min(max(date.Sub(now), 0), MaxRetryAfter)
		}
	}
	return 0
}

// Describe is the answer in a failure's message.
func (a Answer) Describe() string {
	switch {
	case a.Detail != "":
		return string(a.Trouble) + ": " + a.Detail
	case a.Trouble != NoTrouble:
		return a.Trouble.describe()
	case a.NoRetry:
		return fmt.Sprintf("HTTP %d, receiver asked for no retry", a.Status)
	default:
		return fmt.Sprintf("HTTP %d", a.Status)
	}
}

// Failure is what an answer that did not deliver leaves behind.
func (a Answer) Failure(at Instant) *Failure {
	class := a.Trouble
	if class == NoTrouble {
		class = Answered
	}
	return &Failure{Status: a.Status, Class: class, Message: a.Describe(), At: at}
}
