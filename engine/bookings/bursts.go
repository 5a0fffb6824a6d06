package bookings

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// bursts counts the rings of future seconds, to detect a burst while it is being booked. It is
// safe for concurrent use.
type bursts struct {
	mu      sync.Mutex
	seconds map[int64]int
}

func newBursts() *bursts { return &bursts{seconds: map[int64]int{}} }

// count counts one ring at a moment, and returns the previous count of its second.
func (b *bursts) count(at time.Time) (others int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.seconds) >= tuning.BurstSeconds {
		b.forget(time.Now().Unix())
	}
	second := at.Unix()
	others = b.seconds[second]
	b.seconds[second]++
	return others
}

// forget drops the seconds in the past. If that is not enough it drops all, and some bursts are
// underestimated.
func (b *bursts) forget(now int64) {
	for second := range b.seconds {
		if second < now {
			delete(b.seconds, second)
		}
	}
	if len(b.seconds) >= tuning.BurstSeconds {
		clear(b.seconds)
	}
}
