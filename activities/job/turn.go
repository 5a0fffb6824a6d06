package job

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
)

// takeTurn takes a place for the job. If its type has its share and none is free, the job
// waits, and its heartbeats say so. After some time another worker may have it.
func (w Work[Item]) takeTurn(ctx context.Context, progress job.Progress) (*turns.Place, error) {
	if w.Turns == nil {
		return nil, nil
	}
	at := progress.Cursor()
	if at.Waits == 0 {
		at.Waits = wire.At(time.Now())
	}
	patience := time.NewTimer(tuning.TurnPatience)
	defer patience.Stop()
	for {
		waiting, cancel := context.WithTimeout(ctx, tuning.JobBeat)
		place := w.Turns.Acquire(waiting, w.BusinessType, at.Waits.Time())
		cancel()
		if place != nil {
			at.Waits = 0
			activity.RecordHeartbeat(ctx, progress)
			return place, nil
		}
		activity.RecordHeartbeat(ctx, progress)
		select {
		case <-activity.GetWorkerStopChannel(ctx):
			return nil, errHandedOver()
		case <-patience.C:
			return nil, errHandedOver()
		case <-ctx.Done():
			return nil, ctx.Err()
		default:
		}
	}
}
