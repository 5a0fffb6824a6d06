// Package timers answers the calls on timers: book, change, cancel, fire, pause, show and list,
// one or many, and what is known of a timer: its attempts, its history, why it waits, its
// occurrences.
//
// [Register] adds the calls. A handler reads the request, asks whether the caller may, calls the
// engine once, and answers. [ReadBooking] reads a timer from a body.
package timers
