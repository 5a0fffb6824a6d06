package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Preload says how long before it rings a timer is handed to a worker, which keeps it
// in memory until then.
type Preload struct {
	// Lead is how long before it rings; zero for when it rings.
	Lead wire.Duration `json:"lead,omitzero"`
	// Window is the time over which the timers that ring at the same instant are
	// handed out. It is at least Lead, but for a timer that is handed out as it is booked.
	Window wire.Duration `json:"window,omitzero"`
}

// Preloading is the preload of a timer booked under this policy. Timers that ring at
// the same instant are spread over the policy's preload, all but its last two seconds, by
// a hash of their booking, so that they are not all handed out at once. A type with a
// rate of callbacks has no preload: its timers wait in a queue in any case.
func (p Policy) Preloading(booking string) Preload {
	if p.Limits.CallbacksPerSecond != nil {
		return Preload{}
	}
	window := *p.WithDefaults().Preload
	if window <= wire.Duration(DefaultPreload) {
		return Preload{Lead: window, Window: window}
	}
	sum := sha256.Sum256([]byte(booking))
	share, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(window.D()-DefaultPreload))
	return Preload{Lead: wire.Duration(DefaultPreload + time.Duration(share)), Window: window}
}

// Widened is the preload of a timer that rings at the same instant as so many others,
// where Temporal hands out perSecond timers in a second. A preload below the default was
// chosen by the policy, and stays. More timers than the longest preload has places for take
// what all of them take in turn, evenly: Temporal would not work off in time what it had to
// hand out in one moment.
func (p Preload) Widened(others, perSecond int) Preload {
	lead := DefaultPreload + time.Duration(others)*time.Second/time.Duration(perSecond)
	if p.Window.D() < DefaultPreload || others < perSecond || wire.Duration(lead) <= p.Window || p.Window.D() >= MaxPreload {
		return p
	}
	// More timers may follow, and the last of them needs a place in the window.
	window := wire.Duration(min(2*lead, MaxPreload))
	if lead > MaxPreload {
		lead = DefaultPreload + evenly(others, MaxPreload-DefaultPreload)
	}
	return Preload{Lead: wire.Duration(lead), Window: window}
}

// evenly is the place in a span of one of many that are numbered: however many there are,
// they lie as far apart as can be (additive recurrence by the golden ratio).
func evenly(number int, span time.Duration) time.Duration {
	_, part := math.Modf(float64(number) * math.Phi)
	return time.Duration(part * float64(span))
}

// eagerMargin is by how much the engine's clock may be behind that of whoever books.
const eagerMargin = time.Second

// Eager is the preload of a timer that a worker is handed as it is booked, this long
// before it rings. ok is false where that is longer than a worker may have it, and where
// its policy wants it preloaded for less than usual, or not at all.
func (p Preload) Eager(wait time.Duration) (_ Preload, ok bool) {
	lead := max(wait, 0) + eagerMargin
	if lead > MaxPreload || p.Window.D() < DefaultPreload {
		return p, false
	}
	p.Lead = max(p.Lead, wire.Duration(lead))
	return p, true
}
