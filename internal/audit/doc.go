// Package audit records who did what.
//
// The context holds the author of changes, as a [Caller]. The engine writes it into Temporal
// together with the change, in the same write. A record is the result of a call, and a [Log] stores
// exactly one for each call. It fails closed: a call that cannot be recorded is not carried out.
package audit
