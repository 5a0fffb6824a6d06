// Package enginetest has what stands in for Temporal in the tests of the engine's rooms: it
// needs no deployment, and answers with Temporal's own types and errors. A reader starts with
// [Fake].
package enginetest
