// Package slo counts how punctual the timers of a business type are, and compares that with
// what its policy promises.
//
// [Counts] are the counts of an interval. Their [Histogram] holds the lateness of its rings. A
// [Series] is the counts of a business type, hour by hour and, once they are old, day by day. A
// [Report] sums up a window of a series and says how much of the error budget is left.
//
// A reader starts with [Counts.Observe].
package slo
