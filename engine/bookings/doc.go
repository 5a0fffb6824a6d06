// Package bookings books timers, and changes, cancels, pauses and redelivers existing ones.
// A call that returns without an error has been made durable by Temporal. Its answer is the
// true result: the call follows a change until it took effect, until the delivery won the
// race, or until the caller's wait is over. A reader starts with [Bookings], and reads
// [Adder.Add] from top to bottom.
package bookings
