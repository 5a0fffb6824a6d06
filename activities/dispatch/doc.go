// Package dispatch sends the items of a shard of a dispatch. Items leave evenly, each at a
// moment that follows from the plan alone, so that all shards together are flat and no
// worker has to know of another.
//
// Start at [Executor.Run]. It carries out one run of a shard: a loop that owns the state of
// the shard. The parts of a run have one job each:
//
//   - the lease is the right to send; a heartbeat renews it
//   - the pacer says at which moments items leave
//   - the source reads the items, a page at a time
//   - the retries read what is due on the ladder, and store what failed
//   - the sender sends, and sorts the items by their outcome
//   - the refresher reads the settings, claims the rate and shows the progress
//
// What takes time is done beside the loop, which hears of its end.
//
// A heartbeat stores how far the shard is. Nothing is sent once another worker may have
// taken the shard over. An item counts as dealt with when its outcome is part of the
// state: one that failed stays open until it lies on a stored page. Temporal may take a
// process for dead that stood still, and give it the next attempt. That attempt is the same
// run.
package dispatch
