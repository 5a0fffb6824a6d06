package dispatch

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
)

// takeTurn takes a place for a shard. If its type has its share and none is free, the shard
// waits, and its heartbeats say so. Without a place, place is nil, and end and err are the
// attempt's result.
func (e *Executor) takeTurn(
	ctx context.Context, shard *dispatch.Shard, info activity.Info,
) (place *turns.Place, end dispatch.ShardRunResult, err error) {
	since := shard.State.Waits
	if since == 0 {
		since = wire.At(time.Now())
	}
	waiting, stop := context.WithTimeout(ctx, tuning.TurnPatience)
	defer stop()
	granted := make(chan *turns.Place, 1)
	go func() {
		defer close(granted)
		granted <- e.turns.Acquire(waiting, shard.BusinessType, since.Time())
	}()
	w := turn{Executor: e, shard: *shard, info: info, began: time.Now()}
	w.shard.State.Waits, w.shard.State.Try = since, info.Attempt
	w.shard.State.Sent, w.shard.State.LagMS = dispatch.Recent{}, 0
	place, end, err = w.wait(ctx, granted)
	if place == nil {
		stop()
		if late := <-granted; late != nil { // it came as the wait ended
			late.Release()
		}
		return nil, end, err
	}
	if end, err = w.confirm(ctx); err != nil || end.End != "" {
		place.Release()
		return nil, end, err
	}
	shard.State.Waits = 0
	return place, end, nil
}

// turn is a shard that waits for its turn.
type turn struct {
	*Executor
	shard dispatch.Shard
	info  activity.Info
	began time.Time
}

// wait waits for a place. It returns nil if the attempt ends without one.
func (w turn) wait(ctx context.Context, granted <-chan *turns.Place) (place *turns.Place, end dispatch.ShardRunResult, err error) {
	silence := w.info.HeartbeatTimeout
	if silence == 0 {
		silence = tuning.DispatchSilence
	}
	next := time.NewTimer(tuning.DispatchBeat)
	defer next.Stop()
	for {
		select {
		case place = <-granted:
			if place == nil {
				return nil, end, errElsewhere()
			}
			return place, end, nil
		case <-next.C:
			next.Reset(silence / 3)
			if end, err := w.heartbeat(ctx); wire.CodeOf(err) == wire.NotFound || end.End != "" {
				return nil, end, err
			} // else the next heartbeat says it
		case <-activity.GetWorkerStopChannel(ctx):
			return nil, end, errElsewhere()
		case <-ctx.Done():
			return nil, end, ctx.Err()
		}
	}
}

// heartbeat reports that the shard waits. end is how the run ends after a cancel.
func (w turn) heartbeat(ctx context.Context) (end dispatch.ShardRunResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
	defer cancel()
	err = w.Store.Heartbeat(ctx, w.info.TaskToken, w.shard.State)
	if wire.CodeOf(err) == wire.Overtaken {
		state := w.shard.State
		state.Waits = 0
		return dispatch.ShardRunResult{State: state, End: dispatch.RunCancelled, Plan: w.shard.Plan}, nil
	}
	return end, err
}

// confirm verifies after a wait that the shard is still this attempt's.
func (w turn) confirm(ctx context.Context) (end dispatch.ShardRunResult, err error) {
	if time.Since(w.began) < tuning.DispatchBeat {
		return end, nil
	}
	return w.heartbeat(ctx)
}

// errElsewhere hands a shard on to any worker with a place.
func errElsewhere() error {
	return temporal.NewApplicationErrorWithOptions("the shard waits for its turn", "turn", temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Millisecond, Category: temporal.ApplicationErrorCategoryBenign,
	})
}
