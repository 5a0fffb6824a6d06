// Package activities holds the effects of a delivery: it calls the receiver
// and says, in Temporal's language, what follows. It is the only package that
// calls out, and the only one that knows resty.
//
// A [Ringer] makes attempts: [Ringer.Ring] is the first one, on the fast path
// within a workflow task, [Ringer.Deliver] every other one. Ring first holds the
// timer for its last moments, and asks before the end whether it is still
// wanted. Temporal is the only retrier; resty's own retry stays off.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package activities
