package timer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"time"
)

// Preload is when a timer is handed to a worker, which holds it until it rings.
type Preload struct {
	// Lead is how long before it rings; zero for when it rings.
	Lead Duration `json:"lead,omitzero"`
	// Window is over how long the timers that ring with it are handed out, at
	// least its own Lead.
	Window Duration `json:"window,omitzero"`
}

// UnmarshalJSON also reads what the first timers that were held carry: one
// duration for both.
func (p *Preload) UnmarshalJSON(text []byte) error {
	var both Duration
	if json.Unmarshal(text, &both) == nil {
		*p = Preload{Lead: both, Window: both}
		return nil
	}
	type fields Preload
	return json.Unmarshal(text, (*fields)(p))
}

// Preloading is the preload of a timer booked under this policy. Timers that
// ring at one instant are handed out one after another, over the whole preload
// but for its last moments. A type whose callbacks the server paces has none:
// its timers have to queue in any case.
func (p Policy) Preloading(booking string) Preload {
	if p.Limits.CallbacksPerSecond != nil {
		return Preload{}
	}
	window := *p.WithDefaults().Preload
	if window <= Duration(DefaultPreload) {
		return Preload{Lead: window, Window: window}
	}
	sum := sha256.Sum256([]byte(booking))
	share, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(window.D()-DefaultPreload))
	return Preload{Lead: Duration(DefaultPreload + time.Duration(share)), Window: window}
}

// Widened widens the preload of a timer that so many others ring with, where an
// engine hands out that many a second. A preload below the default was chosen,
// and stays.
func (p Preload) Widened(others, perSecond int) Preload {
	lead := Duration(DefaultPreload + time.Duration(others)*time.Second/time.Duration(perSecond))
	if p.Window.D() < DefaultPreload || others < perSecond || lead <= p.Window {
		return p
	}
	// More may follow: what is held as long as the last of them needs its time.
	return Preload{Lead: min(lead, Duration(MaxPreload)), Window: min(2*lead, Duration(MaxPreload))}
}

// Lead is how long before it rings the timer is handed to a worker.
func (c Memo) Lead() time.Duration {
	if c.NotPreloaded {
		return 0
	}
	return c.Preload.Lead.D()
}

// WakesAt is when the timer is handed to a worker.
func (c Memo) WakesAt() Instant { return c.RingsAt().Add(-c.Lead()) }

const (
	// taskTimeout is how long a worker may have a timer, beside holding it: for a
	// first attempt of the default length, and until the engine has recorded it.
	// At 80 % of the whole the SDK heartbeats.
	taskTimeout = 15 * time.Second
	// MaxTaskTimeout is the most that server 1.32.1 allows; it cuts in silence.
	MaxTaskTimeout = 2 * time.Minute
)

// TaskTimeout is how long a worker may have the timer. It is also how late a
// timer rings whose worker was killed with it.
func (c Memo) TaskTimeout() time.Duration {
	return min(taskTimeout+2*c.Preload.Window.D(), MaxTaskTimeout)
}

// RecordTime is how long the engine may take to record a herd that rang at one
// instant, before the first of it is handed out a second time.
func (c Memo) RecordTime() time.Duration {
	return c.TaskTimeout() - c.Lead() - DefaultAttemptTimeout
}
