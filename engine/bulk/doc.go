// Package bulk does the same with all timers that a filter finds. [Orders] takes the order,
// [Finder] finds the timers, [Pages] stores what was found, and [Worker] does to each what the
// order says. A reader starts with [Orders.Start].
package bulk
