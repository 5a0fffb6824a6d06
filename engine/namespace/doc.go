// Package namespace sets Temporal's namespace up, checks at the start whether it does what
// Wakecall needs, and tells whether it answers. A reader starts with [Namespace].
package namespace
