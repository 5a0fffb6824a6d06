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

// withHeartbeat sends heartbeats, so that Temporal notices a dead worker, and returns the
// context of an attempt. Only the end of the task or of the worker interrupts that context.
// A cancelled timer's attempt in flight may have reached the receiver, so its answer is
// awaited. The heartbeats carry the last report, which a try without one would otherwise
// erase. ended must be called.
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

// workerStopping reports whether a context ended because its worker stops, and not because
// of a cancel.
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
