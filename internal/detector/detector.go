// Package detector tells a test whether the race detector watches it. Only tests import it.
package detector

import "testing"

// SkipSweep skips a test under the detector that repeats one thing hundreds of times. The
// detector would make it five to ten times as slow and see nothing new. The Makefile runs
// packages with such a test both ways.
func SkipSweep(t testing.TB) {
	t.Helper()
	if Watches {
		t.Skip("a sweep runs without the race detector")
	}
}
