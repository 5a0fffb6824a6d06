// Package load is a client that books, moves and cancels timers, and records the answers. A
// seed determines all of its calls. It repeats a call of unknown outcome unchanged, as a
// client should.
package load
