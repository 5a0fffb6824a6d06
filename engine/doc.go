// Package engine is the one adapter to Temporal's client. It starts, signals,
// cancels, describes and lists workflows, and speaks the words of package
// timer to everybody else.
//
// A call that returns without an error has been made durable by Temporal, and
// its answer is what really happened: a change or a cancel is followed until
// it took effect, until the delivery won the race, or until the caller's wait
// is over.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package engine
