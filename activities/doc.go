// Package activities holds the effects of a delivery: it has the receiver called,
// and says, in Temporal's language, what follows. What is sent leaves
// through package send.
//
// An [Attempter] makes attempts: [Attempter.FirstAttempt] on the fast path, within a
// workflow task, [Attempter.Deliver] every other one. The first attempt is preloaded:
// it waits in memory for its last moments, and asks before the end whether the timer
// is still wanted. Temporal is the only retrier.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package activities
