package timer

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Ahead is the preload of a timer booked under this policy. A type whose
// callbacks the server paces has none: its timers have to queue in any case.
func (p Policy) Ahead() Duration {
	if p.Limits.CallbacksPerSecond != nil {
		return 0
	}
	return p.Preload
}

// Lead is how long before it rings the timer is handed to a worker. Timers that
// ring at one instant wake one after another, over the whole preload but for
// its last moments.
func (c Card) Lead() time.Duration {
	preload := c.Preload.D()
	if c.Unheld {
		return 0
	}
	if preload <= DefaultPreload {
		return preload
	}
	sum := sha256.Sum256([]byte(c.Booking))
	share, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(preload-DefaultPreload))
	return DefaultPreload + time.Duration(share)
}

// WakesAt is when the timer is handed to a worker.
func (c Card) WakesAt() Instant { return c.RingsAt().Add(-c.Lead()) }

const (
	// taskTimeout is how long a worker may have a timer, beside holding it: for a
	// first attempt of the default length, and until the engine has recorded it.
	// At 80 % of the whole the SDK heartbeats.
	taskTimeout = 15 * time.Second
	// maxTaskTimeout is the most that server 1.32.1 allows; it cuts in silence.
	maxTaskTimeout = 2 * time.Minute
)

// TaskTimeout is how long a worker may have the timer. It is also how late a
// timer rings whose worker was killed with it.
func (c Card) TaskTimeout() time.Duration {
	return min(taskTimeout+2*c.Preload.D(), maxTaskTimeout)
}

// RecordTime is how long the engine may take to record a herd that rang at one
// instant, before the first of it is handed out a second time.
func (c Card) RecordTime() time.Duration {
	return c.TaskTimeout() - c.Lead() - DefaultAttemptTimeout
}
