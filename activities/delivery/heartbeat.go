package delivery

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// withHeartbeat lets Temporal notice that the worker died, and is the context of an
// attempt that nothing interrupts but the end of its task and of its worker: one
// that is in flight when the timer is cancelled may have reached the receiver,
// so its answer is waited for. The signs of life carry the last report, which a
// try that leaves none would take with it. ended must be called.
func withHeartbeat(ctx context.Context, last *delivery.Report) (attempt context.Context, ended func()) {
	end, _ := ctx.Deadline() // every activity has one
	attempt, stop := context.WithDeadline(context.WithoutCancel(ctx), end)
	unwatch := context.AfterFunc(ctx, func() {
		if workerStopping(ctx) {
			stop()
		}
	})
	var beats sync.WaitGroup
	beats.Go(func() { sendHeartbeats(ctx, attempt.Done(), last) })
	return attempt, func() {
		unwatch()
		stop()
		beats.Wait()
	}
}

// workerStopping reports whether a context ended because its worker does, and not
// because a cancel was asked for.
func workerStopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return !temporal.IsCanceledError(context.Cause(ctx))
	default:
		return false
	}
}

func sendHeartbeats(ctx context.Context, ended <-chan struct{}, last *delivery.Report) {
	interval := tuning.AttemptHeartbeat
	if silence := activity.GetInfo(ctx).HeartbeatTimeout; silence > 0 && silence <= interval {
		interval = tuning.StreamHeartbeat
	}
	next := time.NewTicker(interval)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			if last == nil {
				activity.RecordHeartbeat(ctx)
			} else {
				activity.RecordHeartbeat(ctx, last)
			}
		case <-ended:
			return
		}
	}
}
