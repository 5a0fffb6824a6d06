package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A timer is preloaded: its start delay ends a lead before it rings, and the worker that
// gets its first task waits in memory for the instant.

// suspended is how long a paused timer stays cold. Only a signal or a cancel wakes it
// earlier.
const suspended = wire.MaxAhead

// StartDelay is how long a timer can stay cold.
func StartDelay(memo timer.Memo, now time.Time) time.Duration {
	if until := memo.RestsUntil(); until != 0 {
		return max(until.Until(now), 0)
	}
	if memo.Resting() {
		return suspended
	}
	return max(memo.WakesAt().Until(now), 0)
}

// release ends a run that was preloaded and did not ring. The interrupting signal is on its
// way: Temporal withholds it while a worker has the task.
func (t *timerRun) release(result delivery.Result) decision {
	if result == delivery.ResultInterrupted {
		_ = workflow.Await(t.ctx, t.interrupted) // a cancel interrupts, too
	}
	if t.interrupted() {
		return t.applyPending()
	}
	t.spec.NotPreloaded = result == delivery.ResultRejected
	return continued()
}
