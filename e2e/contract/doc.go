// Package contract holds calls to the OpenAPI document: what Wakecall answers,
// and what was sent to it and taken.
//
// A schema of OpenAPI 3.1 is a JSON Schema of draft 2020-12, so a validator of
// those does the work. Each schema is compiled once: the tests poll, and what
// a check costs would show in the lateness they measure.
package contract
