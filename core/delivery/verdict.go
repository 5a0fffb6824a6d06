package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Decision is what follows from an attempt.
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

// Answer is what came of one attempt, whatever carried it. The zero value is an
// attempt of which nothing is known: it did not deliver.
type Answer struct {
	// Delivered reports whether the receiver took the message.
	Delivered bool
	// Deferred reports whether the receiver took it and may say later what becomes of it, where
	// its policy asks for that.
	Deferred bool
	// Class says what went wrong; empty when it was delivered.
	Class FailureClass
	// Status is that of an HTTP answer; 0 for none.
	Status int
	// Detail is what may be told beside the class. It is stored and shown.
	Detail string
	// NoVerdict reports whether the attempt says nothing of the receiver, since the connection
	// broke on which it was made. It counts as none, and another one is made at once.
	NoVerdict bool
	// Text is the beginning of a failed answer, where it is text; see [Excerpted].
	Text string
	// NoRetry reports whether the receiver asked not to be called again.
	NoRetry bool
	// Stop reports whether the receiver wants no further occurrence of a recurring timer.
	Stop bool
	// RetryAfter is how long the receiver asked not to be called; 0 where it did not.
	RetryAfter time.Duration
}

// Answered reports whether somebody said what became of the message, be it a broker. What
// they said holds also where the rest of their answer was cut off.
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

// Verdict is what follows from an answer.
type Verdict struct {
	Decision   Decision
	RetryAfter time.Duration // at most [MaxRetryAfter]; 0 for none
}

// Judge says what follows from an answer. A receiver that asked not to be called again, an
// address that is not allowed and a request that cannot be built end the delivery; whatever
// else did not deliver is tried again. What a protocol's own words mean, its transport
// says in the answer.
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

// Describe is the answer in a failure's message.
func (a Answer) Describe() string {
	switch {
	case a.Detail == "":
		return a.Class.describe()
	case a.Class == Answered: // its text says what it is
		return a.Detail
	default:
		return string(a.Class) + ": " + a.Detail
	}
}

// Failure is what an answer that did not deliver leaves behind.
func (a Answer) Failure(at wire.Instant) *Failure {
	return &Failure{Status: a.Status, Class: a.Class, Message: a.Describe(), At: at}
}
