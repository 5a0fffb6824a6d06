package engine

import (
	"github.com/wakecall/wakecall/internal/burst"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// spread is the preload of one more timer. Timers that ring together are handed to the
// workers one after another: so a burst leaves at its instant, and what rings beside it
// is not late. Each gateway counts what it books itself.
func spread(bursts *burst.Counter, alone timer.Preload, rings timer.Instant) timer.Preload {
	return alone.Widened(bursts.Count(rings.Time()), tuning.DispatchPerSecond)
}
