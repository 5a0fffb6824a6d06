// Package enginetest has what stands in for Temporal in the tests of the engine's rooms: it
// needs no deployment, and answers with Temporal's own types and errors. A reader starts with
// [Temporal],
// which keeps runs and their histories, and [Worker], which plays the part of the workers. The
// smaller ones, [Fake], [Queues] and [Visible], know one answer each.
package enginetest
