// Package temporal holds what Wakecall leans on in Temporal itself, by the plain SDK. A reader
// starts with temporal_lab_test.go.
package temporal
