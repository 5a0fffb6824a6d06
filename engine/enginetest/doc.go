// Package enginetest has what stands in for Temporal in the tests of the engine's rooms: it
// needs no deployment, and answers with Temporal's own types and errors.
//
// A reader starts with [Temporal], a namespace in memory with runs, their histories, task
// queues and visibility. [Worker] plays the part of the workers. [Visible] is a crowd of timers
// that is counted only. A test in e2e makes the same calls to [Temporal] and to a real server,
// and compares what they answer.
package enginetest
