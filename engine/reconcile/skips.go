package reconcile

import (
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/internal/tuning"
)

// skips remembers which runs need no check for a while, because their next attempt is known
// to lie ahead. A run in backoff is checked once for each step of its ladder, and not in
// every round. A change gives a timer a new run.
type skips struct {
	until map[uuid.UUID]int64
}

// has reports whether a run needs no check now.
func (r *skips) has(runID string, now time.Time) bool {
	run, err := uuid.Parse(runID)
	return err == nil && r.until[run] > now.Unix()
}

// skip skips a run until a moment.
func (r *skips) skip(runID string, until, now time.Time) {
	run, err := uuid.Parse(runID)
	if err != nil || len(r.until) >= tuning.SkippedRuns {
		return
	}
	if r.until == nil {
		r.until = map[uuid.UUID]int64{}
	}
	r.until[run] = min(until.Unix(), now.Add(tuning.LongestSkip).Unix())
}

// forget drops expired entries.
func (r *skips) forget(now time.Time) {
	for run, until := range r.until {
		if until <= now.Unix() {
			delete(r.until, run)
		}
	}
}
