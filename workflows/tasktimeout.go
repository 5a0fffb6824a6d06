package workflows

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

const (
	// taskTimeout is how long a worker may hold a timer, apart from preloading it: a first
	// attempt of the default length, and Temporal's time to record it. The SDK heartbeats at
	// 80 % of the whole.
	taskTimeout = 15 * time.Second
	// MaxTaskTimeout is the most that server 1.32.1 allows. It cuts longer values silently.
	MaxTaskTimeout = 2 * time.Minute
)

// TaskTimeout is how long a worker may hold the timer before Temporal hands it to another
// worker. It is the net below the workers that take a dead worker's timers sooner
// (docs/reliability.md). A lone timer gets no more than it needs: preload and first attempt
// end before 80 % of the time has passed.
func TaskTimeout(memo timer.Memo) time.Duration {
	return min(taskTimeout+max(2*memo.Preload.Window.D(), memo.Lead()*5/4), MaxTaskTimeout)
}

// RecordTime is how long Temporal may take to record timers that rang at one instant, before
// it hands out the first of them a second time.
func RecordTime(memo timer.Memo) time.Duration {
	return TaskTimeout(memo) - memo.Lead() - delivery.DefaultAttemptTimeout
}
