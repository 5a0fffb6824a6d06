package workflows

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

const (
	// taskTimeout is how long a worker may have a timer, beside preloading it: for a
	// first attempt of the default length, and until Temporal has recorded it. At 80 %
	// of the whole the SDK heartbeats.
	taskTimeout = 15 * time.Second
	// MaxTaskTimeout is the most that server 1.32.1 allows; it cuts in silence.
	MaxTaskTimeout = 2 * time.Minute
)

// TaskTimeout is how long a worker may have the timer before Temporal hands it to
// another one. A timer whose worker was killed with it is called then, and after the time
// in which that one is asked what it did (docs/reliability.md has the formula and its
// conditions), so that a lone one gets no more than it needs: before 80 % of the time have
// passed, it has been preloaded and its first attempt has been made.
func TaskTimeout(memo timer.Memo) time.Duration {
	return min(taskTimeout+max(2*memo.Preload.Window.D(), memo.Lead()*5/4), MaxTaskTimeout)
}

// RecordTime is how long Temporal may take to record timers that were called at one
// instant, before the first of them is handed out a second time.
func RecordTime(memo timer.Memo) time.Duration {
	return TaskTimeout(memo) - memo.Lead() - delivery.DefaultAttemptTimeout
}
