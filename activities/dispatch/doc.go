// Package dispatch sends the items of a shard of a dispatch. Items leave evenly. The plan
// alone determines the moment of each, so that all shards together are flat and workers need
// not know of one another.
//
// Start at [Executor.Run]. It carries out one run of a shard: a loop that owns the state of
// the shard. The parts of a run have one job each:
//
//   - the lease is the right to send; a heartbeat renews it
//   - the pacer sets the moments at which items leave
//   - the source reads the items, a page at a time
//   - the retries read what is due on the ladder, and store what failed
//   - the sender sends, and sorts the items by their outcome
//   - the refresher reads the settings, claims the rate and shows the progress
//
// Slow work is done outside of the loop, which handles its end.
//
// A heartbeat stores the shard's progress. Nothing is sent once another worker may have
// taken the shard over. An item counts as resolved when its outcome is part of the state:
// a failed item stays open until it is on a stored page. Temporal may consider a process
// dead that only stood still, and give it the next attempt. That attempt is the same run.
package dispatch
