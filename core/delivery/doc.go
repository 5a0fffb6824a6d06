// Package delivery says where a callback goes, what an attempt did, and what follows from it.
// It knows no timer.
//
// A [Callback] is a [Destination] with headers and a timeout. [Reach] says which destinations
// may be called. A [Fallback] is the second link of a callback, a [Retry] the ladder of waits
// between attempts, an [Alert] who is told of an end.
//
// An [Answer] is what a destination said. [Judge] makes it a [Verdict], and a [Failure] is what
// remains of an attempt that did not deliver. A [Report] is the record of an attempt. A
// receiver may answer later: [Ack] allows it, an [Acknowledgement] is that answer, and an
// [Acceptance] is what is shown meanwhile. A [Wait] says what an attempt waits for.
//
// A reader starts with [Judge].
package delivery
