package oracle

import "time"

// Op is what a call asked for.
type Op string

// The closed list of operations.
const (
	Add    Op = "add"
	Change Op = "change"
	Cancel Op = "cancel"
)

// Outcome is what the client knows of a call once it is over.
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

// Call is what the client remembers of one call.
type Call struct {
	Op      Op
	ID      string
	Outcome Outcome
	// Status is the HTTP status, or 0 without an answer. Problem is the slug of
	// its problem document.
	Status  int
	Problem string
	// Pending is whether the answer, a 202, showed the timer without the change:
	// it is durable and not in effect yet.
	Pending bool
	Sent    time.Time
	// Answered is when the answer, or the lack of one, was certain.
	Answered time.Time
	// Due is the due time that an add or a change asked for.
	Due time.Time
	// Revision and WebhookID are those of the timer that the answer showed.
	Revision  int
	WebhookID string
}

// Arrival is one request that the receiver got.
type Arrival struct {
	ID        string
	WebhookID string
	Attempt   int
	Revision  int
	// Body is a digest of the payload.
	Body string
	At   time.Time
	// Status is what the receiver made of it, whether or not its caller lived to
	// hear it. Answered is when it said so.
	Status   int
	Answered time.Time
}

func (a Arrival) taken() bool { return a.Status/100 == 2 }

// Fault is a time in which something was broken.
type Fault struct {
	// From is when it broke, and To when it was no longer broken: when the
	// replacement was started, the network joined, the disk freed.
	From, To time.Time
	// Crash is whether attempts in flight may have lost their caller, so that
	// each of them may be repeated once.
	Crash bool
}

// touches reports whether the fault and a span of time have a moment in common.
func (f Fault) touches(from, to time.Time) bool { return !f.From.After(to) && !from.After(f.To) }
