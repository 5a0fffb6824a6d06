// Package smithy stands in for the base of Amazon's clients.
package smithy

// APIError is an error that Temporal checks for.
type APIError interface {
	error
	ErrorCode() string
}
