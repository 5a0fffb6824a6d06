//go:build race

package console_test

import "testing"

// sweep leaves a test of thousands of requests, one after the other, to a run without the race
// detector, which makes it five times as slow. The Makefile has both runs.
func sweep(t *testing.T) {
	t.Helper()
	t.Skip("a sweep runs without the race detector")
}
