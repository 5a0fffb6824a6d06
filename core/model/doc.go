// Package model has the life of a timer as a pure function: a state and an event lead to another
// state and to effects.
//
// A [State] is a small value. An [Event] comes from the clock, a client, the receiver or a
// worker. An [Effect] is visible to an observer: a call of the receiver, the end of a run, a
// status in lists. A [Decision] is one rule of the function, with a name. [Rules] has all of
// them, and [Rules.Next] applies the one that fits.
//
// [Rules.Walk] visits every state within a short sequence of events. The tests hold invariants
// to each step of it, play its sequences into the real workflow, at night play random ones on
// a real server (e2e/fault), and draw docs/state-machine.md
// from it. No program runs the model: it is the oracle of the tests.
//
// The model leaves these out:
//
//   - several extra rings that wait for each other
//   - a change of the rule of a recurring timer
//   - more than one change during one attempt
//   - a change during an attempt whose receipt the next worker gets from the one before
//   - an acknowledgement, a debounce or a preload of a recurring timer
//
// A reader starts with [State], and goes on with [All].
package model
