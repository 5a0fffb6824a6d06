// Package smithy stands in for what Amazon's clients stand on.
package smithy

// APIError is an answer that Temporal looks for.
type APIError interface {
	error
	ErrorCode() string
}
