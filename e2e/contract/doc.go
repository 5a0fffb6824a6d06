// Package contract calls the API for tests: its client checks every call against the OpenAPI
// document, and its types show a timer without Wakecall's own.
package contract
