// Package dispatch has the rules of a mass job: many items, called back at one flat rate.
//
// A [Dispatch] is the order, and an [Item] is the subject of one callback. The items come with
// the order, by upload, or from a [Loader]. A [Shard] is the part of them that one worker sends,
// and a [Page] their unit of storage. A [Pace] schedules each item, for any number of shards. A
// [Memo] holds the state of the dispatch, and a [View] is what readers see of it. [Behind]
// explains a rate below the order's.
//
// A reader starts with [Dispatch.Check], and goes on with [Memo.View].
package dispatch
