package job

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// Work is what a kind of job has to say of one order. Its functions may fail: Temporal
// then tries again from where the job is.
type Work[Item any] struct {
	// PerSecond is how many items are dealt with in a second at most. An item that was
	// not dealt with uses up nothing of it.
	PerSecond float64
	// Count counts the items, once for a job.
	Count func(ctx context.Context) (int, error)
	// Page reads one page, nil being the token of the first, and the token of the next
	// one, which is empty on the last page.
	Page func(ctx context.Context, token []byte) (page []Item, next []byte, err error)
	// ID names an item among those of its page.
	ID func(Item) string
	// Do deals with one item, which it may have to do twice after a crash. It is out of
	// reach of a stop, so that it is known what became of the item. By its error the item
	// counts as done, as skipped ([timer.NotFound], [timer.AlreadyFinished],
	// [timer.Overtaken]: it is not any more what was ordered), as failed, or holds the job
	// up ([timer.Unavailable]).
	Do func(ctx context.Context, item Item) error
}

// Run goes through the items from where an earlier try of this activity was, and keeps in
// progress, which is zero before, how far it is.
func (w Work[Item]) Run(ctx context.Context, progress timer.JobProgress) error {
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, progress); err != nil {
			return err
		}
	}
	r := &run[Item]{Work: w, progress: progress, pace: rate.NewLimiter(rate.Limit(w.PerSecond), 1)}
	r.pace.Allow() // the first item waits for nobody
	if err := r.count(ctx); err != nil {
		return err
	}
	return r.pages(ctx)
}

// End is what the activity of a job returns after [Work.Run]: the counts as its kind stores
// them, also where it was stopped.
func End[Counts any](ctx context.Context, counts Counts, err error) (Counts, error) {
	if temporal.IsCanceledError(context.Cause(ctx)) {
		return counts, temporal.NewCanceledError(counts)
	}
	return counts, err
}

// run is the work on one order.
type run[Item any] struct {
	Work[Item]
	progress timer.JobProgress
	pace     *rate.Limiter
	// next is how long the next item has to wait for the rate.
	next time.Duration
}

func (r *run[Item]) count(ctx context.Context) error {
	counts := r.progress.Counts()
	if counts.Found != nil {
		return nil
	}
	found, err := r.Count(ctx)
	if err != nil {
		return err
	}
	counts.Found = &found
	r.beat(ctx)
	return nil
}

func (r *run[Item]) pages(ctx context.Context) error {
	at := r.progress.Cursor()
	for {
		page, next, err := r.Page(ctx, at.Page)
		if err != nil {
			return err
		}
		for _, item := range r.rest(page, at.After) {
			if err := r.item(ctx, item); err != nil {
				return err
			}
		}
		if len(next) == 0 {
			return nil
		}
		at.Page, at.After = next, ""
		r.beat(ctx)
	}
}

// rest is the part of a page behind the item that was dealt with last. Where that is gone,
// it is all of the page: what was dealt with is not any more what was ordered.
func (r *run[Item]) rest(page []Item, after string) []Item {
	for i, item := range page {
		if r.ID(item) == after {
			return page[i+1:]
		}
	}
	return page
}

// item deals with one item at its time. After an error the job goes on with the same item.
func (r *run[Item]) item(ctx context.Context, item Item) error {
	if err := r.wait(ctx, r.next); err != nil {
		return err
	}
	r.next = 0
	// A stop waits for the one that has begun, so that the counts are exact.
	err := r.Do(context.WithoutCancel(ctx), item)
	counts, at := r.progress.Counts(), r.progress.Cursor()
	switch code := timer.CodeOf(err); {
	case err == nil:
		counts.Done++
		r.next = r.pace.Reserve().Delay()
	case code == timer.NotFound || code == timer.AlreadyFinished || code == timer.Overtaken:
		counts.Skipped++
	case code == timer.Unavailable && at.Tries+1 < tuning.JobTries:
		at.Tries++
		r.beat(ctx)
		return err
	default:
		activity.GetLogger(ctx).Warn("an item of a job could not be dealt with", "error", err)
		counts.Failed++
	}
	at.After, at.Tries = r.ID(item), 0
	r.beat(ctx)
	return nil
}

// wait waits for the next item, unless the job or its worker is stopped.
func (r *run[Item]) wait(ctx context.Context, d time.Duration) error {
	if err := stopped(ctx); err != nil || d <= 0 {
		return err
	}
	next := time.NewTimer(d)
	defer next.Stop()
	beat := time.NewTicker(tuning.JobBeat)
	defer beat.Stop()
	for {
		select {
		case <-next.C:
			return nil
		case <-beat.C:
			r.beat(ctx)
		case <-activity.GetWorkerStopChannel(ctx):
			return errLeaving()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func stopped(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return errLeaving()
	default:
		return ctx.Err()
	}
}

// errLeaving hands a job on to another worker, at once.
func errLeaving() error {
	return temporal.NewApplicationErrorWithOptions("the worker is leaving", "leaving", temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Millisecond, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

func (r *run[Item]) beat(ctx context.Context) { activity.RecordHeartbeat(ctx, r.progress) }
