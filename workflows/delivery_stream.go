package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// streamBusy reports whether the attempts wait for a receiver busy with others. They wait as
// one activity, since each round of a repeated wait would stay in the history.
func (d *deliveryRun) streamBusy() bool {
	return d.last.Handed != nil && d.last.Stream && d.last.Handed.Times > 0
}

// watchStream ends the attempts when receivers have stopped taking attempts from the stream.
func (d *deliveryRun) watchStream(attempts workflow.Context) {
	d.streamWatch = nil
	if d.streamBusy() {
		d.streamWatch = workflow.ExecuteActivity(workflow.WithActivityOptions(attempts, workflow.ActivityOptions{
			TaskQueue: DefaultDeliveryQueue, StartToCloseTimeout: tuning.QuestionTimeout, Summary: "watch the stream",
			RetryPolicy: deliverRetry(),
		}), ActivityWatchStream, d.spec)
	}
}

// endStreamWatch cancels the attempts that wait at a stream that is down.
func (d *deliveryRun) endStreamWatch(watch workflow.Future) {
	d.streamWatch = nil
	if watch.Get(d.ctx, nil) == nil {
		d.streamDown = true
		d.cancelAttempts()
	}
}

// streamMissed reports whether attempts handed to a stream ended because no receiver took
// them.
func (d *deliveryRun) streamMissed(err error) bool {
	return scheduleToStartTimedOut(err) || d.streamDown && temporal.IsCanceledError(err)
}

// scheduleToStartTimeout is how long the attempts wait for a receiver to connect if another
// link is left. Zero means no limit. Attempts that a wakeup cancelled have used up a part of
// the wait.
func (d *deliveryRun) scheduleToStartTimeout() time.Duration {
	now := workflow.Now(d.ctx)
	handed := d.last.Handed
	if handed == nil || !d.last.Stream || handed.Wait == 0 || d.streamBusy() {
		return 0
	}
	if d.handedAt != handed.At {
		d.handedAt, d.waitsUntil = handed.At, now.Add(handed.Wait.D())
	}
	return max(d.waitsUntil.Sub(now), tuning.FirstLinkProbe)
}

// heartbeatTimeout is the time without a heartbeat after which the worker of an attempt
// counts as dead.
func (d *deliveryRun) heartbeatTimeout() time.Duration {
	if d.last.Stream {
		return tuning.StreamSilence
	}
	return tuning.Silence
}

// scheduleToStartTimedOut reports whether no receiver took the attempts in time.
func scheduleToStartTimedOut(err error) bool {
	late, ok := errors.AsType[*temporal.TimeoutError](err)
	return ok && late.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
