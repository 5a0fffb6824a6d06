package timer

import "time"

// Hold is a worker's claim on a workflow task of a run. No other worker gets one until it ends.
type Hold struct {
	RunID string
	// Attempt and StartedAt identify the task within the run. Both are zero if unknown.
	Attempt   int
	StartedAt time.Time
}

// Known reports whether the held task can be identified.
func (h Hold) Known() bool { return !h.StartedAt.IsZero() }

// Has reports whether a task is the held one.
func (h Hold) Has(attempt int, startedAt time.Time) bool {
	return h.Attempt == attempt && h.StartedAt.Equal(startedAt)
}
