package engine

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/timer"
)

const (
	// handedOut is how many timers a second an engine on two cores hands out
	// beside everything else that it has to do.
	handedOut = 75
	// maxSeconds bounds the memory of a crowd.
	maxSeconds = 1 << 14
)

// crowd counts bookings by the second at which they ring. Timers that ring
// together are handed to the workers one after another: so a herd leaves at its
// instant, and what rings beside it is not late. Each gateway counts what it
// books itself.
type crowd struct {
	mu      sync.Mutex
	seconds map[int64]int
}

func newCrowd() *crowd { return &crowd{seconds: map[int64]int{}} }

// preload is that of one more timer.
func (c *crowd) preload(alone timer.Preload, rings timer.Instant) timer.Preload {
	return alone.Crowded(c.join(rings.Time().Unix()), handedOut)
}

// join returns how many timers were booked for this second before.
func (c *crowd) join(second int64) (others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seconds) >= maxSeconds {
		c.forget(time.Now().Unix())
	}
	others = c.seconds[second]
	c.seconds[second]++
	return others
}

// forget drops the seconds that are over. Where that is not enough it drops
// all, and some herds are handed out faster than they should be.
func (c *crowd) forget(now int64) {
	for second := range c.seconds {
		if second < now {
			delete(c.seconds, second)
		}
	}
	if len(c.seconds) >= maxSeconds {
		clear(c.seconds)
	}
}
