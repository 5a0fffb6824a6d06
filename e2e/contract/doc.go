// Package contract checks calls against the OpenAPI document: Wakecall's answers, and the
// accepted requests.
//
// A schema of OpenAPI 3.1 is a JSON Schema of draft 2020-12, so a validator of those does
// the work. Each schema is compiled once: the tests poll, and slow checks would show in the
// lateness they measure.
package contract
