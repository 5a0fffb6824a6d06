package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
)

// Failures finds timers that failed for good, and tries them again.
type Failures interface {
	CountFailed(ctx context.Context, filter corejob.FailedFilter) (int, error)
	// ListFailed reads one page, and the token of the next one, which is empty
	// on the last page.
	ListFailed(ctx context.Context, filter corejob.FailedFilter, token []byte) (page []timer.View, next []byte, err error)
	// RedeliverRun tries a timer again whose last run is the given one.
	RedeliverRun(ctx context.Context, key wire.Key, runID string) error
}

// Redeliver tries the failed timers that the order selects again, each failed run once.
func (c *Controller) Redeliver(ctx context.Context, order corejob.Redelivery) (corejob.Redelivered, error) {
	var progress corejob.RedeliveryProgress
	ctx = onBehalf(ctx, order.By)
	err := job.Work[timer.View]{
		PerSecond: order.PerSecond, Turns: c.Turns, BusinessType: order.Filter.BusinessType,
		Count: func(ctx context.Context) (int, error) { return c.Failures.CountFailed(ctx, order.Filter) },
		Page: func(ctx context.Context, token []byte) ([]timer.View, []byte, error) {
			return c.Failures.ListFailed(ctx, order.Filter, token)
		},
		ID: func(failed timer.View) string { return failed.RunID },
		Do: func(ctx context.Context, failed timer.View) error {
			return c.Failures.RedeliverRun(ctx, failed.Key, failed.RunID)
		},
	}.Run(ctx, &progress)
	return job.End(ctx, progress.Redelivered, err)
}

// onBehalf has a job make its changes on behalf of who ordered it.
func onBehalf(ctx context.Context, by *wire.Actor) context.Context {
	return audit.With(ctx, audit.Behalf{Of: by.OnBehalf(activity.GetInfo(ctx).WorkflowExecution.ID)})
}
