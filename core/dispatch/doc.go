// Package dispatch has the rules of a mass job: many items, called back at one flat rate.
//
// A [Dispatch] is the order, an [Item] what one callback is about. The items come with the
// order, by upload, or from a [Loader]. A [Shard] is the part of them that one worker sends,
// a [Page] the unit in which they are stored. A [Pace] says when each item leaves, however
// many shards send. A [Memo] is what the dispatch is read from, a [View] what a reader is
// shown, [Behind] why it is below its rate.
//
// A reader starts with [Dispatch.Check], and goes on with [Memo.View].
package dispatch
