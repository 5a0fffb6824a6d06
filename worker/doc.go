// Package worker defines the task queues of a process, with their workflows, activities and
// limits. A [Bulkhead] shares the attempts in flight among business types. A [Preload] bounds
// the timers that wait in this process for their due time. The replay tests check the workflows
// registered here. A reader starts with table.go, which has a row for each queue.
//
// The package is at the top of the tree because it is a room of the architecture. It promises
// nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package worker
