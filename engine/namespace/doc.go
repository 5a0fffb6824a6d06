// Package namespace sets Temporal's namespace up, checks at the start whether it meets
// Wakecall's needs, and reports whether it answers. A reader starts with [Namespace].
package namespace
