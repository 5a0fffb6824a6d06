// Package operations tests an operator's tasks on a real Temporal: policies, limits, bulk
// jobs, redelivery and lists. A reader starts with policies_test.go.
package operations
