package timer

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Lead returns how long before its ring a worker gets the timer.
func (m Memo) Lead() time.Duration {
	if m.NotPreloaded {
		return 0
	}
	return m.Preload.Lead.D()
}

// WakesAt returns when a worker gets the timer.
func (m Memo) WakesAt() wire.Instant { return m.RingsAt().Add(-m.Lead()) }
