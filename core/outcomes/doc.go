// Package outcomes says how the timers of a business type ended, minute by minute, and how late
// they rang.
//
// [Outcomes] is the answer to a request. Its [Step]s hold the counts of visibility and, where
// they are known, the latenesses of a [Lateness]. [Quantile] reads a lateness from buckets.
//
// A reader starts with [Outcomes.Divide].
package outcomes
