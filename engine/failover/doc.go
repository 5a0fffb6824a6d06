// Package failover frees the timers of workers that died, so that they ring on time at
// another one (docs/decisions/0079-a-dead-workers-tasks-are-freed.md). Each worker process
// gives signs of life, watches those of the others, and frees what a dead one held. A reader
// starts with [Failover].
package failover
