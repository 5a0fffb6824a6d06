// Package burst counts what is going to happen by the second at which it does, so that
// a burst is seen while it is being booked.
package burst

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Counter counts by the second. It is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	seconds map[int64]int
}

// New returns a Counter that has counted nothing.
func New() *Counter { return &Counter{seconds: map[int64]int{}} }

// Count counts one more at a moment, and returns how many were counted at its second
// before.
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

// forget drops the seconds that are over. Where that is not enough it drops all, and
// some bursts are not seen in full.
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
