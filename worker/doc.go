// Package worker says which workflows and activities run on which task queues,
// and with what limits: a [Bulkhead] shares the attempts in flight among business
// types, a [Hold] bounds the timers that wait here for their last moments. What it
// registers is what the replay tests prove.
package worker
