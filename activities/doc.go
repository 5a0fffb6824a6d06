// Package activities holds the effects that belong to no one delivery: queue rates, alerts
// and outcomes, and the work of jobs. [Controller] has them all.
//
// The attempts of timers are made in package delivery, and those of dispatches in package
// dispatch. What is sent leaves through package send.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package activities
