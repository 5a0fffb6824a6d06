package engine

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/timer"
)

const (
	// dispatchPerSecond is how many timers a second an engine on two cores hands out
	// beside everything else that it has to do.
	dispatchPerSecond = 75
	// maxSeconds bounds the memory.
	maxSeconds = 1 << 14
)

// bursts counts bookings by the second at which they ring. Timers that ring
// together are handed to the workers one after another: so a herd leaves at its
// instant, and what rings beside it is not late. Each gateway counts what it
// books itself.
type bursts struct {
	mu      sync.Mutex
	seconds map[int64]int
}

func newBursts() *bursts { return &bursts{seconds: map[int64]int{}} }

// preload is that of one more timer.
func (b *bursts) preload(alone timer.Preload, rings timer.Instant) timer.Preload {
	return alone.Widened(b.count(rings.Time().Unix()), dispatchPerSecond)
}

// count returns how many timers were booked for this second before.
func (b *bursts) count(second int64) (others int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.seconds) >= maxSeconds {
		b.forget(time.Now().Unix())
	}
	others = b.seconds[second]
	b.seconds[second]++
	return others
}

// forget drops the seconds that are over. Where that is not enough it drops
// all, and some herds are handed out faster than they should be.
func (b *bursts) forget(now int64) {
	for second := range b.seconds {
		if second < now {
			delete(b.seconds, second)
		}
	}
	if len(b.seconds) >= maxSeconds {
		clear(b.seconds)
	}
}
