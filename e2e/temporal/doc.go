// Package temporal tests the properties of Temporal that Wakecall relies on, with the plain
// SDK. A reader starts with temporal_lab_test.go.
package temporal
