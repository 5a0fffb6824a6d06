// Package bulk applies one change to all timers that match a filter. [Orders] takes the
// order, [Finder] finds the timers, [Pages] stores the found timers, and [Worker] applies
// the order to each. A reader starts with [Orders.Start].
package bulk
