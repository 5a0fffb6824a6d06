// Package dispatch sends the items of a shard of a dispatch: evenly, each at a moment
// that follows from the plan alone, so that all shards together are flat and no worker has
// to know of another. [Executor.Run] is one stint of it: a loop that owns the state of the
// shard. Whatever takes time, sending, reading and storing pages, signs of life, is done
// beside the loop, which hears of its end.
//
// A sign of life is a lease: it stores how far the shard is, and nothing is sent once
// another worker may have taken it over. An item counts as dealt with when what became of
// it is part of the state: one that failed stays open until it lies on a stored page. Where
// Temporal takes a process for dead that stood still, and gives it the next attempt, that
// attempt is the same stint.
package dispatch
