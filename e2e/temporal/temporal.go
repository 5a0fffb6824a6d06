// Package temporal starts the Temporal that Wakecall brings along, for tests.
//
// It runs in the process of the test. Under the race detector it runs in a process beside it, without
// the detector: what is watched there is Wakecall, and a Temporal that is watched takes minutes to
// compile and runs several times as slow.
package temporal

import "time"

// Settings are those of a Temporal.
type Settings struct {
	// Addr is the address of its frontend.
	Addr string
	// Dir is where its files are. They need not survive a power cut.
	Dir string
	// Tuning is its dynamic configuration, in YAML; if empty, Wakecall's own.
	Tuning []byte
	// Retention is how long it keeps a finished timer.
	Retention time.Duration
}
