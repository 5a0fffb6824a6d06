package timer

import "time"

// Hold is that a worker has a workflow task of a run: nobody else is handed one meanwhile.
type Hold struct {
	RunID string
	// Attempt and StartedAt tell the task from any other of the run. Both are zero where
	// they are not known.
	Attempt   int
	StartedAt time.Time
}

// Known reports whether a task can be compared with the one that is held.
func (h Hold) Known() bool { return !h.StartedAt.IsZero() }

// Has reports whether a task is the one that is held.
func (h Hold) Has(attempt int, startedAt time.Time) bool {
	return h.Attempt == attempt && h.StartedAt.Equal(startedAt)
}
