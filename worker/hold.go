package worker

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/timer"
)

// Completions tells how fast Temporal records what was rung.
type Completions interface {
	// Rate is in tasks per second.
	Rate() float64
}

const (
	// maxHeld bounds the memory: about 80 KB for each timer held.
	maxHeld = 10_000
	// minHeld is held however slow the engine is.
	minHeld = 100
)

// Hold bounds how many timers this process holds at once: no more than Temporal
// can record before the first task times out. One that is handed out again is
// not rung again, but its receipt has to be found. What times out first is
// recorded first, so a timer is kept out only by those that must be recorded by
// the same time.
type Hold struct {
	completions Completions

	mu   sync.Mutex
	held [slots]int // by the seconds in which they must be recorded
}

// slots are as many seconds as a task may take in all.
const slots = int(timer.MaxTaskTimeout / time.Second)

// NewHold returns a hold of timers that are recorded at the rate of completions.
func NewHold(completions Completions) *Hold { return &Hold{completions: completions} }

// Enter takes a place, if what is held then can be recorded within recordTime.
// leave gives it back, and must be called once.
func (h *Hold) Enter(recordTime time.Duration) (leave func(), ok bool) {
	room := min(max(int(h.completions.Rate()*recordTime.Seconds()), minHeld), maxHeld)
	slot := min(max(int(recordTime.Seconds()), 0), slots-1)
	h.mu.Lock()
	defer h.mu.Unlock()
	rivals := 0
	for _, held := range h.held[:slot+1] {
		rivals += held
	}
	if rivals >= room {
		return nil, false
	}
	h.held[slot]++
	return func() { h.leave(slot) }, true
}

func (h *Hold) leave(slot int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[slot]--
}
