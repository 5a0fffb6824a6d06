// Package timers shows timers: singly, in lists by any order, and the extra data of recurring
// ones. It changes nothing; package bookings does. A reader starts with [Reader] and [Lister].
package timers
