package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"

	"github.com/wakecall/wakecall/timer"
)

// Failures finds timers that failed for good, and tries them again.
type Failures interface {
	CountFailed(ctx context.Context, filter timer.FailedFilter) (int, error)
	// ListFailed reads one page, and the token of the next one, which is empty
	// on the last page.
	ListFailed(ctx context.Context, filter timer.FailedFilter, token []byte) (page []timer.View, next []byte, err error)
	// RedeliverRun tries a timer again whose last run is the given one.
	RedeliverRun(ctx context.Context, key timer.Key, runID string) error
}

const (
	// redeliveryBeat is the time between two signs of life while a redelivery
	// waits for its next timer.
	redeliveryBeat = time.Second
	// redeliveryTries is how often one timer may hold its redelivery up before
	// it is left: waits of 1, 2, 4 and 8 seconds lie between.
	redeliveryTries = 5
)

// leaving hands a redelivery on to another worker, at once.
func leaving() error {
	return temporal.NewApplicationErrorWithOptions("the worker is leaving", "leaving", temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Millisecond, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// Redeliver tries the failed timers that the order selects again, at its rate.
// It goes on where the try before it left off, and may be repeated: each failed
// run is tried again once.
func (c *Controller) Redeliver(ctx context.Context, order timer.Redelivery) (timer.Redelivered, error) {
	r := &redelivery{failures: c.Failures, order: order, pace: rate.NewLimiter(rate.Limit(order.PerSecond), 1)}
	r.pace.Allow() // the first timer waits for nobody
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &r.at); err != nil {
			return timer.Redelivered{}, err
		}
	}
	err := r.run(ctx)
	if temporal.IsCanceledError(context.Cause(ctx)) { // somebody stopped it
		return r.at.Redelivered, temporal.NewCanceledError(r.at.Redelivered)
	}
	return r.at.Redelivered, err
}

// redelivery is the work on one order.
type redelivery struct {
	failures Failures
	order    timer.Redelivery
	pace     *rate.Limiter
	at       timer.RedeliveryProgress
}

func (r *redelivery) run(ctx context.Context) error {
	if r.at.Found == nil {
		found, err := r.failures.CountFailed(ctx, r.order.Filter)
		if err != nil {
			return err
		}
		r.at.Found = &found
		r.beat(ctx)
	}
	for {
		page, next, err := r.failures.ListFailed(ctx, r.order.Filter, r.at.Page)
		if err != nil {
			return err
		}
		if err := r.work(ctx, rest(page, r.at.After)); err != nil || len(next) == 0 {
			return err
		}
		r.at.Page, r.at.After = next, ""
		r.beat(ctx)
	}
}

// rest is the part of a page behind the run that was dealt with last. Where
// that is gone, all of it is: what was dealt with is skipped.
func rest(page []timer.View, after string) []timer.View {
	for i, view := range page {
		if view.RunID == after {
			return page[i+1:]
		}
	}
	return page
}

func (r *redelivery) work(ctx context.Context, page []timer.View) error {
	for _, view := range page {
		// A stop waits for the one that has begun, so that the counts are exact.
		err := r.failures.RedeliverRun(context.WithoutCancel(ctx), view.Key, view.RunID)
		if err := r.count(ctx, err); err != nil {
			return err
		}
		r.at.After, r.at.Tries = view.RunID, 0
		r.beat(ctx)
		var wait time.Duration
		if err == nil { // what was not started used up nothing of the rate
			wait = r.pace.Reserve().Delay()
		}
		if err := r.wait(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// count says what became of one timer. Its error means that this is not known
// yet: the next try begins with the same timer.
func (r *redelivery) count(ctx context.Context, err error) error {
	switch code := timer.CodeOf(err); {
	case err == nil:
		r.at.Redelivered.Redelivered++
	case code == timer.NotFound || code == timer.AlreadyFinished || code == timer.Overtaken:
		r.at.Skipped++
	case code == timer.Unavailable && r.at.Tries+1 < redeliveryTries:
		r.at.Tries++
		r.beat(ctx)
		return err
	default:
		activity.GetLogger(ctx).Warn("a timer could not be redelivered", "error", err)
		r.at.Failed++
	}
	return nil
}

// wait waits for the next timer, unless the redelivery or its worker is stopped.
func (r *redelivery) wait(ctx context.Context, d time.Duration) error {
	next := time.NewTimer(d)
	defer next.Stop()
	beat := time.NewTicker(redeliveryBeat)
	defer beat.Stop()
	for {
		select {
		case <-next.C:
			return ctx.Err()
		case <-beat.C:
			r.beat(ctx)
		case <-activity.GetWorkerStopChannel(ctx):
			return leaving()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *redelivery) beat(ctx context.Context) { activity.RecordHeartbeat(ctx, r.at) }
