package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Bulk finds timers, stores them with their outcomes, and changes them.
type Bulk interface {
	// Find lists a page of the timers an order matches, and the token of the next page,
	// which is empty on the last page.
	Find(ctx context.Context, order corejob.Bulk, token []byte) (items []corejob.Item, next []byte, err error)
	// FindMoving lists a page of timers that began another run since then: Find may have
	// missed them.
	FindMoving(ctx context.Context, order corejob.Bulk, since wire.Instant, token []byte) (items []corejob.Item, next []byte, err error)
	// WritePage stores a page. Unless the page is new, it replaces one with its number; if it is, the
	// error may be [wire.AlreadyExists].
	WritePage(ctx context.Context, job string, number int, page corejob.Page) error
	ReadPage(ctx context.Context, job string, number int) (corejob.Page, error)
	// ClosePages ends the first pages of a job.
	ClosePages(ctx context.Context, job string, pages int, beat func()) error
	// Repeat orders a job once more if the job must miss nothing. It may be called again.
	Repeat(ctx context.Context, order corejob.Bulk) error
	// Do applies the order to one timer once, however often it is called.
	Do(ctx context.Context, order corejob.Bulk, item corejob.Item) (pending bool, err error)
}

// Bulk applies one change to all timers that match the order's filter. It first stores what
// it finds, and then goes through that list. So its changes do not affect the list, and it
// sees each timer's present state when it reaches it.
func (c *Controller) Bulk(ctx context.Context, order corejob.Bulk) (corejob.BulkProgress, error) {
	b := &bulk{store: c.Bulks, runs: c.Runs, order: order}
	ctx = onBehalf(ctx, order.By)
	err := job.Work[corejob.Item]{
		PerSecond: order.PerSecond, Width: tuning.BulkWidth, Turns: c.Turns, BusinessType: order.Filter.BusinessType,
		Count: b.findItems, Commit: b.record, Page: b.readPage, Do: b.doItem, Record: b.recordOutcome, EndPage: b.storePage,
		ID: func(item corejob.Item) string { return item.RunID },
	}.Run(ctx, &b.progress)
	if err == nil || temporal.IsCanceledError(context.Cause(ctx)) {
		if closing := b.store.ClosePages(context.WithoutCancel(ctx), order.ID, b.progress.Pages, func() { b.heartbeat(ctx) }); closing != nil {
			return b.progress, closing
		}
	}
	if found := b.progress.Found; err == nil && order.BookedBefore != 0 && found != nil && *found > 0 {
		err = b.repeat(ctx)
	}
	return job.End(ctx, b.progress, err)
}

// onBehalf attributes a job's changes to the author of its order.
func onBehalf(ctx context.Context, by *wire.Actor) context.Context {
	return audit.With(ctx, audit.Behalf{Of: by.OnBehalf(activity.GetInfo(ctx).WorkflowExecution.ID)})
}

// repeat has the job repeated, once lists show what it has done.
func (b *bulk) repeat(ctx context.Context) error {
	select {
	case <-time.After(tuning.VisibilityLag):
		return b.store.Repeat(ctx, b.order)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bulk is the work on one order.
type bulk struct {
	store    Bulk
	runs     Runs
	order    corejob.Bulk
	progress corejob.BulkProgress
}

func (b *bulk) heartbeat(ctx context.Context) { activity.RecordHeartbeat(ctx, &b.progress) }

// record stores the progress at once, as long as the job is this attempt's.
func (b *bulk) record(ctx context.Context) error {
	return b.runs.Record(ctx, activity.GetInfo(ctx).TaskToken, b.progress)
}

// findItems stores the items of the order.
func (b *bulk) findItems(ctx context.Context) (found int, err error) {
	finding := finding{bulk: b, listed: map[string]bool{}}
	if b.order.Counted != "" {
		err = finding.writePages(ctx, finding.counted(ctx))
	} else {
		err = finding.search(ctx)
	}
	if err != nil {
		return 0, err
	}
	b.progress.Pages = finding.pages
	return len(finding.listed), nil
}

func (b *bulk) readPage(ctx context.Context, _ []byte) (items []corejob.Item, next []byte, err error) {
	number := b.progress.At()
	if number >= b.progress.Pages || b.order.DryRun {
		return nil, nil, nil
	}
	page, err := b.store.ReadPage(ctx, b.order.ID, number)
	if b.progress.After == "" {
		b.progress.Outcomes = nil
	}
	if number+1 < b.progress.Pages {
		next = corejob.Token(number + 1)
	}
	return page.Items, next, err
}

func (b *bulk) doItem(ctx context.Context, item corejob.Item) error {
	pending, err := b.store.Do(ctx, b.order, item)
	if err == nil && pending {
		return job.ErrPending
	}
	return err
}

// recordOutcome records the outcome of a timer.
func (b *bulk) recordOutcome(_ corejob.Item, err error) {
	b.progress.Outcomes = append(b.progress.Outcomes, outcomeOf(err))
}

// storePage stores the outcomes of a page.
func (b *bulk) storePage(ctx context.Context, _ []byte, items []corejob.Item) error {
	if len(items) == 0 {
		return nil
	}
	return b.store.WritePage(ctx, b.order.ID, b.progress.At(), corejob.Page{Items: items, Outcomes: b.progress.Outcomes})
}

// outcomeOf is the outcome of a timer, as shown to clients.
func outcomeOf(err error) corejob.Outcome {
	switch {
	case err == nil:
		return corejob.Outcome{Result: corejob.ResultDone}
	case errors.Is(err, job.ErrPending):
		return corejob.Outcome{Result: corejob.ResultPending}
	}
	outcome := corejob.Outcome{Result: corejob.ResultFailed, Code: wire.CodeOf(err)}
	if job.Skipped(err) {
		outcome.Result = corejob.ResultSkipped
	}
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		if timer.StateOf(refusal) != nil {
			outcome.Status = timer.StateOf(refusal).Status
		}
		if outcome.Code == wire.InvalidRequest && len(refusal.FieldErrors) > 0 {
			outcome.Detail = refusal.FieldErrors[:1].Error()
		}
	}
	return outcome
}
