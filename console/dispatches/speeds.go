package dispatches

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/chart"
	"github.com/wakecall/wakecall/internal/tuning"
)

// speeds holds how fast dispatches were, a sample a second. Only open pages take samples, and no other place
// stores them. It is safe for concurrent use.
type speeds struct {
	mu sync.Mutex
	of map[string][]chart.Speed
}

// add adds how fast a dispatch is, and returns all that is known of it.
func (s *speeds) add(d Dispatch, now time.Time) []chart.Speed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string][]chart.Speed{}
	}
	key := d.BusinessType + "/" + d.BusinessID + " " + d.CreatedAt.String() // an id may be used again
	known := s.of[key]
	if d.Status != calls.StatusRunning && d.Status != statusPaused { // it has no speed
		return known
	}
	at := now.Truncate(time.Second)
	if n := len(known); n > 0 && !known[n-1].At.Before(at) {
		return known
	}
	// What was returned stays as it is: pages are drawn from it.
	known = append(known[:len(known):len(known)], chart.Speed{At: at, Asked: d.PerSecond, Achieved: d.Achieved.Last10Seconds})
	if first := len(known) - tuning.SpeedSamples; first > 0 {
		known = known[first:]
	}
	s.of[key] = known
	if len(s.of) > tuning.SpeedDispatches {
		delete(s.of, s.quietest())
	}
	return known
}

// quietest is the dispatch whose last sample is the oldest.
func (s *speeds) quietest() (quietest string) {
	var oldest time.Time
	for key, known := range s.of {
		if last := known[len(known)-1].At; quietest == "" || last.Before(oldest) {
			quietest, oldest = key, last
		}
	}
	return quietest
}
