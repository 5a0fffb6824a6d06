package engine

import (
	"time"

	"github.com/google/uuid"
)

const (
	// longestRespite is how long a run is left alone at most.
	longestRespite = time.Hour
	// maxRespites bounds the memory, about 10 MB.
	maxRespites = 200_000
)

// respites remember which runs need no look for a while, because their next
// attempt is known to lie ahead: a crowd in back-off is looked at once for each
// step of its ladder, and not in every round. A change gives a timer a new run.
type respites struct {
	until map[uuid.UUID]int64
}

// has is whether a run needs no look now.
func (r *respites) has(runID string, now time.Time) bool {
	run, err := uuid.Parse(runID)
	return err == nil && r.until[run] > now.Unix()
}

// keep leaves a run alone until a moment.
func (r *respites) keep(runID string, until, now time.Time) {
	run, err := uuid.Parse(runID)
	if err != nil || len(r.until) >= maxRespites {
		return
	}
	if r.until == nil {
		r.until = map[uuid.UUID]int64{}
	}
	r.until[run] = min(until.Unix(), now.Add(longestRespite).Unix())
}

// forget drops what is over.
func (r *respites) forget(now time.Time) {
	for run, until := range r.until {
		if until <= now.Unix() {
			delete(r.until, run)
		}
	}
}
