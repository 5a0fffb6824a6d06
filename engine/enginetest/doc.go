// Package enginetest has a fake of Temporal for the tests of the engine's rooms. It needs no
// deployment, and answers with Temporal's own types and errors.
//
// A reader starts with [Temporal], a namespace in memory with runs, their histories, task queues
// and visibility. [Worker] acts as the workers. [Visible] is a set of many timers that can only be
// counted and listed. A test of standalone/embedded makes the same calls to [Temporal] and to
// a real server, and compares the answers.
package enginetest
