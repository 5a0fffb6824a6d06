package timer

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Lead is how long before it rings the timer is handed to a worker.
func (m Memo) Lead() time.Duration {
	if m.NotPreloaded {
		return 0
	}
	return m.Preload.Lead.D()
}

// WakesAt is when the timer is handed to a worker.
func (m Memo) WakesAt() wire.Instant { return m.RingsAt().Add(-m.Lead()) }
