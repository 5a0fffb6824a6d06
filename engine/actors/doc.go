// Package actors records the author of a change beside the change, as the identity of the call. An
// event keeps that identity, so a reader of the history gets the author back. It also names, in the
// header of a start, the run that the start tries again.
//
// [Identify] is part of the connection to Temporal, and where a reader starts.
package actors
