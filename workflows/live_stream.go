package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// busy is whether the tries wait for a receiver that took others meanwhile. They do for as
// long as that is so: each round of a wait by rounds would stay in the history.
func (d *liveDelivery) busy() bool {
	return d.last.Handed != nil && d.last.Stream && d.last.Handed.Times > 0
}

// watch makes the tries end when receivers take nothing any more from the stream at which
// they wait.
func (d *liveDelivery) watch(tries workflow.Context) {
	d.watched = nil
	if d.busy() {
		d.watched = workflow.ExecuteActivity(workflow.WithActivityOptions(tries, workflow.ActivityOptions{
			TaskQueue: DefaultDeliveryQueue, StartToCloseTimeout: tuning.QuestionTimeout, Summary: "watch the stream",
			RetryPolicy: deliverRetry(),
		}), ActivityWatchStream, d.spec)
	}
}

// desert calls off the tries that wait at a stream which is down.
func (d *liveDelivery) desert(ctx workflow.Context, watched workflow.Future) {
	d.watched = nil
	if watched.Get(ctx, nil) == nil {
		d.deserted = true
		d.callOff()
	}
}

// missed is whether tries that were handed to a stream ended because nobody took them.
func (d *liveDelivery) missed(err error) bool {
	return untaken(err) || d.deserted && temporal.IsCanceledError(err)
}

// patience is how long the tries wait for a receiver to connect, where another link is left;
// zero for as long as it takes. Tries that were called off, because somebody woke the timer,
// have waited for a part of it.
func (d *liveDelivery) patience(now time.Time) time.Duration {
	handed := d.last.Handed
	if handed == nil || !d.last.Stream || handed.Wait == 0 || d.busy() {
		return 0
	}
	if d.handedAt != handed.At {
		d.handedAt, d.waitsUntil = handed.At, now.Add(handed.Wait.D())
	}
	return max(d.waitsUntil.Sub(now), tuning.FirstLinkProbe)
}

// silence is how long who makes an attempt may give no sign of life.
func (d *liveDelivery) silence() time.Duration {
	if d.last.Stream {
		return tuning.StreamSilence
	}
	return tuning.Silence
}

// untaken is whether nobody took the tries in the time that they had for it.
func untaken(err error) bool {
	late, ok := errors.AsType[*temporal.TimeoutError](err)
	return ok && late.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
