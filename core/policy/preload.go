package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Preload defines how long before its ring a worker gets a timer to hold in memory.
type Preload struct {
	// Lead is the time before the ring; zero for none.
	Lead wire.Duration `json:"lead,omitzero"`
	// Window is the time over which timers of the same instant are handed out. It is at least
	// Lead, except for a timer handed out at its booking.
	Window wire.Duration `json:"window,omitzero"`
}

// Preloading returns the preload of a timer booked under this policy. A hash of the booking
// spreads timers of the same instant over the policy's preload, all but its last two seconds. A
// type with a rate of callbacks has no preload: its timers wait in a queue anyway.
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

// Widened returns the preload of a timer that rings at the same instant as others, if Temporal
// hands out perSecond timers in a second. It leaves a preload below the default alone, because
// the policy chose it. If the timers exceed the places of the longest preload, they are spread
// evenly over all of it: Temporal cannot hand out many in one moment.
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

// evenly returns the place of a number in a span. For any count, places lie as far apart as
// possible (additive recurrence by the golden ratio).
func evenly(number int, span time.Duration) time.Duration {
	_, part := math.Modf(float64(number) * math.Phi)
	return time.Duration(part * float64(span))
}

// eagerMargin is how far the engine's clock may lag behind the booking client's.
const eagerMargin = time.Second

// Eager returns the preload of a timer that a worker gets at its booking, wait before it rings.
// ok is false if that exceeds MaxPreload, or if the policy has a preload below the default.
func (p Preload) Eager(wait time.Duration) (_ Preload, ok bool) {
	lead := max(wait, 0) + eagerMargin
	if lead > MaxPreload || p.Window.D() < DefaultPreload {
		return p, false
	}
	p.Lead = max(p.Lead, wire.Duration(lead))
	return p, true
}
