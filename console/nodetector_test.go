//go:build !race

package console_test

import "testing"

// sweep says that a test makes thousands of requests, one after the other.
func sweep(*testing.T) {}
