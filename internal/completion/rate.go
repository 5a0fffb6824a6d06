package completion

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// rate is how many tasks Temporal records in a second while it has all to do.
type rate struct {
	mu        sync.Mutex
	perSecond float64
	// since is when the measurement began, and done what was recorded since.
	since time.Time
	done  int
}

func (r *rate) now() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.perSecond
}

// recorded counts a task; a span in which one did not have to wait for its turn
// tells nothing of how many there could have been.
func (r *rate) recorded(waited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !waited {
		r.since, r.done = time.Now(), 0
		return
	}
	r.done++
	if took := time.Since(r.since); took >= tuning.RateWindow {
		r.perSecond += tuning.RateWeight * (float64(r.done)/took.Seconds() - r.perSecond)
		r.since, r.done = time.Now(), 0
	}
}
