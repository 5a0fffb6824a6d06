// Package bookings books timers, and changes, cancels, pauses and redelivers those that are
// there. A call that returns without an error has been made durable by Temporal, and its answer
// is what really happened: a change is followed until it took effect, until the delivery won
// the race, or until the caller's wait is over. A reader starts with [Bookings], and reads
// [Adder.Add] from top to bottom.
package bookings
