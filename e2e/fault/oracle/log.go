package oracle

import "time"

// Op is the operation of a call.
type Op string

// The closed list of operations.
const (
	Add    Op = "add"
	Change Op = "change"
	Cancel Op = "cancel"
)

// Outcome is the client's knowledge of a finished call.
type Outcome string

// The closed list of outcomes.
const (
	// OK was acknowledged: it happened, and must last.
	OK Outcome = "ok"
	// Failed certainly did not happen.
	Failed Outcome = "failed"
	// Unknown may have happened: there was no answer, or a 503.
	Unknown Outcome = "unknown"
)

// Call is the client's record of one call.
type Call struct {
	Op      Op
	ID      string
	Outcome Outcome
	// Status is the HTTP status, or 0 without an answer. Problem is the slug of its problem
	// document.
	Status  int
	Problem string
	// Pending reports whether the answer, a 202, showed the timer without the change: it is
	// durable and not in effect yet.
	Pending bool
	Sent    time.Time
	// Answered is when the answer, or its absence, was certain.
	Answered time.Time
	// Due is the requested due time of an add or a change.
	Due time.Time
	// Revision and WebhookID are those of the timer in the answer.
	Revision  int
	WebhookID string
}

// Arrival is one request at the receiver.
type Arrival struct {
	ID        string
	WebhookID string
	Attempt   int
	Revision  int
	// Body is a digest of the payload.
	Body string
	At   time.Time
	// Status is the receiver's answer, even if its caller died first. Answered is when it
	// was sent.
	Status   int
	Answered time.Time
}

func (a Arrival) taken() bool { return a.Status/100 == 2 }

// Fault is a time in which something was broken.
type Fault struct {
	// From is when it broke, and To when it was repaired: when the replacement was started,
	// the network joined, the disk freed.
	From, To time.Time
	// Crash reports whether attempts in flight may have lost their caller, so that each of
	// them may be repeated once.
	Crash bool
	// Stood reports whether a worker stood still and went on, while another one made its
	// attempts. What was in flight when it stopped may be repeated, and nothing else.
	Stood bool
}

// touches reports whether the fault and a span of time overlap.
func (f Fault) touches(from, to time.Time) bool { return !f.From.After(to) && !from.After(f.To) }
