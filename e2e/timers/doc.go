// Package timers holds what a client does with timers on a real Temporal: book, move, cancel,
// pause, repeat, look up. A reader starts with timers_test.go.
package timers
