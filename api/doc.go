// Package api is the HTTP API: the only package that sees requests come in, and the
// only one that knows Echo. A handler decodes, makes one call to the engine, and
// encodes.
//
// Every error leaves as application/problem+json (RFC 9457) with a type from
// the closed list in problem.go. Nothing of Temporal's or Go's own words
// reaches a caller.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package api
