// Package operations holds what an operator does on a real Temporal: policies, limits, bulk
// jobs, redelivery and lists. A reader starts with policies_test.go.
package operations
