// Package worker says which workflows and activities run on which task queues,
// and with what limits: a [Bulkhead] shares the attempts in flight among business
// types, a [Preload] bounds the timers that wait in this process for their instant.
// What it registers is what the replay tests prove. A reader starts with table.go, which has a
// row for each queue.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package worker
