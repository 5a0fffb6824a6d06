package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Decision is the next step after an attempt.
type Decision string

// The closed list of decisions.
const (
	// DecisionDelivered ends the delivery with success.
	DecisionDelivered Decision = "delivered"
	// DecisionRetry tries again on the ladder.
	DecisionRetry Decision = "retry"
	// DecisionStop ends the delivery without success.
	DecisionStop Decision = "stop"
)

// Answer is the outcome of one attempt, over any transport. The zero value is an attempt with
// unknown outcome: it did not deliver.
type Answer struct {
	// Delivered reports whether the receiver took the message.
	Delivered bool
	// Deferred reports whether the receiver took it and may acknowledge it later, if its policy
	// asks for that.
	Deferred bool
	// Class is the kind of failure; empty if it was delivered.
	Class FailureClass
	// Status is the status of an HTTP answer; 0 for none.
	Status int
	// Detail is public text beside the class. It is stored and shown.
	Detail string
	// NoVerdict reports whether the connection broke, so that the attempt says nothing about the
	// receiver. It is not counted, and another one follows at once.
	NoVerdict bool
	// Text is the beginning of a failed answer, if it is text; see [Excerpted].
	Text string
	// NoRetry reports whether the receiver refused further attempts.
	NoRetry bool
	// Stop reports whether the receiver wants no further occurrence of a recurring timer.
	Stop bool
	// RetryAfter is the wait that the receiver asked for; 0 for none.
	RetryAfter time.Duration
}

// Answered reports whether the destination, or a broker, gave its verdict on the message. A
// verdict holds even if the rest of the answer was cut off.
func (a Answer) Answered() bool {
	switch a.Class {
	case NoFailure:
		return a.Delivered
	case Answered, Refused, Unroutable:
		return true
	default:
		return false
	}
}

// Verdict is the consequence of an answer.
type Verdict struct {
	Decision   Decision
	RetryAfter time.Duration // at most [MaxRetryAfter]; 0 for none
}

// Judge returns the consequence of an answer. These end the delivery without success:
//
//   - the receiver refused further attempts
//   - the address is not allowed
//   - the request cannot be built
//
// Any other failure is retried. A transport translates its protocol's answers into an Answer.
func Judge(a Answer) Verdict {
	switch {
	case a.Delivered && a.Class == NoFailure:
		return Verdict{Decision: DecisionDelivered}
	case a.NoRetry, a.Class == BlockedAddress, a.Class == BadRequest:
		return Verdict{Decision: DecisionStop}
	default:
		return Verdict{Decision: DecisionRetry, RetryAfter: min(max(a.RetryAfter, 0), MaxRetryAfter)}
	}
}

// Describe returns the answer as it appears in a failure's message.
func (a Answer) Describe() string {
	switch {
	case a.Detail == "":
		return a.Class.describe()
	case a.Class == Answered, a.Class == NoFailure: // its text is complete
		return a.Detail
	default:
		return string(a.Class) + ": " + a.Detail
	}
}

// Failure returns the failure of an answer that did not deliver.
func (a Answer) Failure(at wire.Instant) *Failure {
	return &Failure{Status: a.Status, Class: a.Class, Message: a.Describe(), At: at}
}
