package dispatch

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/dispatch"
)

// Sweep deletes what a dispatch has stored.
func (e *Executor) Sweep(ctx context.Context, sweep dispatch.Sweep) error {
	if sweep.Yield != "" {
		e.releaseClaim(ctx, sweep.BusinessType, sweep.Yield)
	}
	return e.Store.Sweep(ctx, sweep, func() { activity.RecordHeartbeat(ctx) })
}
