// Package timers has the list of timers, the page of one, and what is done with one or with some.
//
// Start with [Pages.Routes].
package timers
