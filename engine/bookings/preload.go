package bookings

import (
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// spread is the preload of one more timer. Timers that ring together are handed to the
// workers one after another. So a burst leaves at its instant, and a timer that rings beside
// it is not late. Each gateway counts only its own bookings.
func spread(counted *bursts, alone policy.Preload, rings wire.Instant, perSecond int) policy.Preload {
	return alone.Widened(counted.count(rings.Time()), perSecond)
}

// handOuts is how many timers a second the engine hands out at this rate of bookings: a slow
// engine is slow at both. An idle engine's rate is the maximum.
func handOuts(bookingsPerSecond float64) int {
	return min(max(int(bookingsPerSecond*tuning.HandOutShare), tuning.LeastHandOuts), tuning.DispatchPerSecond)
}
