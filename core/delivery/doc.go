// Package delivery decides where a callback goes, and what follows from each attempt. It knows
// no timer.
//
// A [Callback] is a [Destination] with headers and a timeout. [Reach] lists the allowed
// destinations. A [Fallback] is the second link of a callback. A [Retry] is the ladder of waits
// between attempts. An [Alert] names the recipient of an outcome.
//
// An [Answer] is the destination's response. [Judge] turns it into a [Verdict], and a [Failure]
// records an attempt that did not deliver. A [Report] is the record of an attempt. [Ack] lets a
// receiver answer later with an [Acknowledgement]; until then an [Acceptance] is shown. A [Wait]
// is the reason why an attempt waits.
//
// A reader starts with [Judge].
package delivery
