// Package timers tests a client's operations on timers on a real Temporal: book, move,
// cancel, pause, repeat, look up. A reader starts with timers_test.go.
package timers
