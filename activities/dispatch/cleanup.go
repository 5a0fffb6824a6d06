package dispatch

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
)

// CleanUp deletes what a dispatch has stored.
func (e *Executor) CleanUp(ctx context.Context, sweep dispatch.Cleanup) error {
	if sweep.Yield != "" {
		e.releaseClaim(ctx, sweep.BusinessType, sweep.Yield)
	}
	return e.Store.CleanUp(ctx, sweep, func() { activity.RecordHeartbeat(ctx) })
}
