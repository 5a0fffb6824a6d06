// Package burst counts future events by the second, to detect a burst while it is being booked.
package burst

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Counter counts events by the second. It is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	seconds map[int64]int
}

// New returns an empty Counter.
func New() *Counter { return &Counter{seconds: map[int64]int{}} }

// Count counts one event at a moment, and returns the previous count of its second.
func (c *Counter) Count(at time.Time) (others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seconds) >= tuning.BurstSeconds {
		c.forget(time.Now().Unix())
	}
	second := at.Unix()
	others = c.seconds[second]
	c.seconds[second]++
	return others
}

// forget drops the seconds in the past. If that is not enough it drops all, and some bursts are
// underestimated.
func (c *Counter) forget(now int64) {
	for second := range c.seconds {
		if second < now {
			delete(c.seconds, second)
		}
	}
	if len(c.seconds) >= tuning.BurstSeconds {
		clear(c.seconds)
	}
}
