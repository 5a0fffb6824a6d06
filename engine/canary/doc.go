// Package canary notices that timers would not ring before a user does.
//
// A gateway books a small timer once a minute. The timer takes the way of every other one:
// Temporal stores it, a worker gets it, and the gateway itself is its receiver, by a stream. Each
// [Beat] measures five steps: the booking, Temporal's clock, the ring, the record of the ring,
// and the entry in visibility. A step that takes too long is a fault, and the beat names it.
//
// The timers have a workflow type of their own, so no list, count or forecast has them. Each is
// deleted once it is measured.
//
// A reader starts with [Canary.Run].
package canary
