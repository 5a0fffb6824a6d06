// Package audit says who did what.
//
// Whoever makes changes stands in the context, as a [Caller]: the engine writes it into
// Temporal together with the change, in the same write. What a call came to is a [Record],
// of which a [Log] keeps exactly one for each call: it fails closed, so that a call which
// cannot be recorded is not carried out.
package audit
