package bookings

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// bursts counts the rings of future seconds, to detect a burst while it is being booked. It is
// safe for concurrent use.
type bursts struct {
	mu      sync.Mutex
	seconds map[int64]int
}

func newBursts() *bursts { return &bursts{seconds: map[int64]int{}} }

// spread is the preload of one more timer. Timers that ring together are handed to the
// workers one after another. So a burst leaves at its instant, and a timer that rings beside
// it is not late. Each gateway counts only its own bookings.
func (b *bursts) spread(alone policy.Preload, rings wire.Instant, perSecond int) policy.Preload {
	return alone.Widened(b.count(rings.Time()), perSecond)
}

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

// handOuts is how many timers a second the engine hands out at this rate of bookings: a slow
// engine is slow at both. An idle engine's rate is the maximum.
func handOuts(bookingsPerSecond float64) int {
	return min(max(int(bookingsPerSecond*tuning.HandOutShare), tuning.LeastHandOuts), tuning.DispatchPerSecond)
}
