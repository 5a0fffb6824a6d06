// Package contract checks calls against the OpenAPI document: the answers of Wakecall, and the
// requests that it accepted. The tests of api/gateway and of e2e use it.
//
// A schema of OpenAPI 3.1 is a JSON Schema of draft 2020-12, so a validator of those does the
// work. Each schema is compiled once: the tests poll, and slow checks would show in the lateness
// that they measure.
//
// A reader starts with [Document] and [Document.Check]. [Hold] does the same in a test.
package contract
