// Package timers shows timers: one by one, in lists by any order, and what recurring ones have
// beside the others. It changes nothing; package bookings does. A reader starts with [Reader] and
// [Lister].
package timers
