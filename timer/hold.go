package timer

import "time"

// Hold is the time for which a worker has the workflow task of a run: nobody else is
// handed one meanwhile.
type Hold struct {
	RunID string
	// Attempt and StartedAt tell the task that it has now from any other of the run, and
	// BeganAt is when it was handed the first one: where an attempt takes long it gets
	// another one in exchange. All are zero where they are not known.
	Attempt            int
	StartedAt, BeganAt time.Time
}

// Known is whether a task can be compared with the one that is held.
func (h Hold) Known() bool { return !h.StartedAt.IsZero() }

// Has is whether a task is the one that is held.
func (h Hold) Has(attempt int, startedAt time.Time) bool {
	return h.Attempt == attempt && h.StartedAt.Equal(startedAt)
}
