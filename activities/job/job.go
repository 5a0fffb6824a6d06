package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
)

// Work is a kind of job's part in one order. Its functions may fail: Temporal then retries
// from the job's progress.
type Work[Item any] struct {
	// PerSecond is the most items per second. An item that was not dealt with does not count.
	PerSecond float64
	// Count counts the items, once per job. It should end by [Stopped].
	Count func(ctx context.Context) (int, error)
	// Commit, which may be nil, stores the progress at once. It fails if another worker may have
	// the job. It is called before the first item is dealt with, since heartbeats are kept back for
	// a while: a worker that dies meanwhile would have the items counted again, of which some are
	// changed by then. It is also called by a worker that stood still.
	Commit func(ctx context.Context) error
	// Page reads one page, and returns the token of the next one. A nil token is the first
	// page's, and an empty one means the last page.
	Page func(ctx context.Context, token []byte) (page []Item, next []byte, err error)
	// ID names an item among those of its page.
	ID func(Item) string
	// Do deals with one item. After a crash it may deal with it twice. A stop does not reach
	// it, so that the item's outcome is known. Its error decides how the item counts:
	//   - done: nil or [ErrPending]
	//   - skipped, since it is no longer what was ordered: [wire.NotFound],
	//     [wire.AlreadyFinished], [wire.CancelPending], [wire.Overtaken],
	//     [wire.PreconditionFailed]
	//   - holds the job up: [wire.Unavailable]
	//   - failed: any other
	Do func(ctx context.Context, item Item) error

	// Turns queue for a worker's places for jobs. BusinessType owns the job, empty for a job
	// of all types. Without turns the job does not wait.
	Turns        *turns.Turns
	BusinessType string
	// Width is the most items that are dealt with side by side; 0 for one.
	Width int
	// Record, which may be nil, is called for each item with the last error of Do. It is
	// called in the order of the page, before the progress is recorded.
	Record func(item Item, err error)
	// EndPage, which may be nil, is called when all items of a page are dealt with. After a
	// crash it may be called again.
	EndPage func(ctx context.Context, token []byte, page []Item) error
}

// ErrPending is Do's error for an item whose change is durable, but not applied by a worker yet.
var ErrPending = errors.New("no worker has applied it yet")

// Run goes through the items from the progress of an earlier try of this activity, and keeps
// its own in progress, which starts at zero.
func (w Work[Item]) Run(ctx context.Context, progress job.Progress) error {
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, progress); err != nil {
			return err
		}
	}
	place, err := w.takeTurn(ctx, progress)
	if err != nil {
		return err
	}
	if place != nil {
		defer place.Release()
	}
	together := w.width()
	r := &run[Item]{
		Work: w, progress: progress, most: together, pace: rate.NewLimiter(rate.Limit(w.PerSecond), together), beatAt: time.Now(),
	}
	if place != nil {
		r.giveUp = place.GiveUp()
	}
	r.pace.AllowN(time.Now(), together) // the first items do not wait
	if err := r.count(ctx); err != nil {
		return err
	}
	return r.workPages(ctx)
}

// width is how many items may begin at the same time: as many as the rate allows in a moment.
func (w Work[Item]) width() int {
	return max(1, min(w.Width, int(w.PerSecond*tuning.JobTogether.Seconds())))
}

// End is the result of a job's activity after [Work.Run]: the counts in the form its kind
// stores, also after a stop or a failure. A stopped job is not tried again, so this error is
// the last to carry its progress.
func End[Counts any](ctx context.Context, counts Counts, err error) (Counts, error) {
	if temporal.IsCanceledError(context.Cause(ctx)) {
		return counts, temporal.NewCanceledError(counts)
	}
	if err == nil {
		return counts, nil
	}
	kind, options := "", temporal.ApplicationErrorOptions{Cause: err, Details: []any{counts}}
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		kind, options.NonRetryable = failed.Type(), failed.NonRetryable()
		options.NextRetryDelay, options.Category = failed.NextRetryDelay(), failed.Category()
	}
	return counts, temporal.NewApplicationErrorWithOptions(err.Error(), kind, options)
}

// run is the work on one order.
type run[Item any] struct {
	Work[Item]
	progress job.Progress
	pace     *rate.Limiter
	// most is how many items may begin at the same time.
	most int
	// giveUp is closed when another job must have this one's place.
	giveUp <-chan struct{}
	// next is how long the next items must wait for the rate.
	next time.Duration
	// beatAt is when the last heartbeat was made.
	beatAt time.Time
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
	r.heartbeat(ctx)
	if r.Commit == nil {
		return nil
	}
	return r.Commit(ctx)
}

func (r *run[Item]) workPages(ctx context.Context) error {
	at := r.progress.Cursor()
	for {
		page, next, err := r.Page(ctx, at.Page)
		if err != nil {
			return err
		}
		if err := r.workItems(ctx, r.itemsAfter(page, at.After)); err != nil {
			return err
		}
		if r.EndPage != nil {
			if err := r.EndPage(context.WithoutCancel(ctx), at.Page, page); err != nil {
				return err
			}
		}
		if len(next) == 0 {
			return nil
		}
		at.Page, at.After = next, ""
		r.heartbeat(ctx)
	}
}

// itemsAfter is the part of a page after the last item that was dealt with. If that item is
// gone, it is the whole page: what was dealt with is no longer what was ordered.
func (r *run[Item]) itemsAfter(page []Item, after string) []Item {
	for i, item := range page {
		if r.ID(item) == after {
			return page[i+1:]
		}
	}
	return page
}

// workItems deals with items at their time. After an error the job continues with the first
// item that was not dealt with.
func (r *run[Item]) workItems(ctx context.Context, items []Item) error {
	for chunk := range slices.Chunk(items, r.most) {
		if err := r.wait(ctx, r.next); err != nil {
			return err
		}
		if err := r.confirm(ctx); err != nil {
			return err
		}
		r.next = 0
		// A stop waits for the items under way, so that the counts are exact.
		errs := r.doItems(context.WithoutCancel(ctx), chunk)
		if err := r.confirm(ctx); err != nil {
			return err
		}
		done, err := r.tally(ctx, chunk, errs)
		if err != nil {
			return err
		}
		if done > 0 {
			r.next = r.pace.ReserveN(time.Now(), done).Delay()
		}
	}
	return nil
}

// doItems deals with items side by side, and returns the error of each.
func (r *run[Item]) doItems(ctx context.Context, items []Item) []error {
	errs := make([]error, len(items))
	if len(items) == 1 {
		errs[0] = r.Do(ctx, items[0])
		return errs
	}
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil { // Temporal's SDK recovers panics of an activity's own goroutine only
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = r.Do(ctx, item)
		})
	}
	all.Wait()
	return errs
}

// tally counts items by outcome, in their order, and returns how many were done. It ends at
// the first item that holds the job up.
func (r *run[Item]) tally(ctx context.Context, items []Item, errs []error) (done int, err error) {
	counts, at := r.progress.Counts(), r.progress.Cursor()
	defer r.heartbeat(ctx)
	for i, item := range items {
		switch {
		case errs[i] == nil || errors.Is(errs[i], ErrPending):
			counts.Done++
			done++
		case Skipped(errs[i]):
			counts.Skipped++
		case wire.CodeOf(errs[i]) == wire.Unavailable && at.Tries+1 < tuning.JobTries:
			at.Tries++
			return done, errs[i]
		default:
			activity.GetLogger(ctx).Warn("an item of a job could not be processed", "error", errs[i])
			counts.Failed++
		}
		at.After, at.Tries = r.ID(item), 0
		if r.Record != nil {
			r.Record(item, errs[i])
		}
	}
	return done, nil
}

// Skipped reports whether this error of Do means that the item is skipped: it is no longer
// what was ordered.
func Skipped(err error) bool {
	switch wire.CodeOf(err) {
	case wire.NotFound, wire.AlreadyFinished, wire.CancelPending, wire.Overtaken, wire.PreconditionFailed:
		return true
	default:
		return false
	}
}

// wait waits for the next item, unless the job or its worker is stopped.
func (r *run[Item]) wait(ctx context.Context, d time.Duration) error {
	if err := r.stopped(ctx); err != nil || d <= 0 {
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
			r.heartbeat(ctx)
		case <-activity.GetWorkerStopChannel(ctx):
			return errHandedOver()
		case <-r.giveUp:
			return errHandedOver()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *run[Item]) stopped(ctx context.Context) error {
	select {
	case <-r.giveUp:
		return errHandedOver()
	default:
		return Stopped(ctx)
	}
}

// Stopped returns the error with which a job ends here if it is stopped, or its worker is. That one
// then need not wait for it.
func Stopped(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return errHandedOver()
	default:
		return ctx.Err()
	}
}

// errHandedOver hands a job on at once, to another worker or behind the waiting jobs.
func errHandedOver() error {
	return temporal.NewApplicationErrorWithOptions("the job is handed over", "leaving", temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Millisecond, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

func (r *run[Item]) heartbeat(ctx context.Context) {
	r.beatAt = time.Now()
	activity.RecordHeartbeat(ctx, r.progress)
}

// confirm verifies that the job is still this worker's, if it stood still. Another worker may have
// the job, or it may have been stopped and has told its counts.
func (r *run[Item]) confirm(ctx context.Context) error {
	if r.Commit == nil || time.Since(r.beatAt) < tuning.JobSilence/2 {
		return nil
	}
	return r.Commit(ctx)
}
