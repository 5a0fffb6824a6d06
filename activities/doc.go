// Package activities holds the effects that belong to no single delivery: queue rates,
// alerts and outcomes, and the work of jobs. [Controller] has them all.
//
// Package delivery makes the attempts of timers, and package dispatch those of dispatches.
// Messages leave through package send.
//
// The package stands at the top of the tree because it is a room of the architecture. It
// promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package activities
