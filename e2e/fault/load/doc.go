// Package load is a client that books timers, moves and cancels them, and
// remembers what it was told. All it does follows from a seed. A call whose
// outcome is unknown it repeats as it was, as a client should.
package load
