// Package dispatches tests dispatches on a real Temporal: orders, failures, limits, turns and
// ends.
// Package dispatch measures them. A reader starts with dispatches_api_test.go.
package dispatches
