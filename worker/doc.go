// Package worker says which workflows and activities run on which task queues,
// and with what limits: a [Bulkhead] shares the attempts in flight among business
// types, a [Preload] bounds the timers that wait in this process for their instant.
// What it registers is what the replay tests prove.
package worker
