package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/activities/job"
	corejob "github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
)

// finding stores each timer of a bulk job once. A timer may be listed again if it begins
// another run.
type finding struct {
	*bulk
	listed map[string]bool
	pages  int
}

// search finds the items that match.
func (f *finding) search(ctx context.Context) error {
	began := wire.At(time.Now())
	err := f.writePages(ctx, func(token []byte) ([]corejob.Item, []byte, error) {
		return f.store.Find(ctx, f.order, token)
	})
	if err != nil {
		return err
	}
	return f.writePages(ctx, func(token []byte) ([]corejob.Item, []byte, error) {
		return f.store.FindMoving(ctx, f.order, began, token)
	})
}

// counted lists what a dry run has found. Without its pages the job fails: what a search finds now may be
// more than was counted.
func (f *finding) counted(ctx context.Context) func(token []byte) ([]corejob.Item, []byte, error) {
	return func(token []byte) (items []corejob.Item, next []byte, err error) {
		number := corejob.PageNumber(token)
		if number >= f.order.CountedPages {
			return nil, nil, nil
		}
		page, err := f.store.ReadPage(ctx, f.order.Counted, number)
		if wire.CodeOf(err) == wire.NotFound {
			return nil, nil, temporal.NewNonRetryableApplicationError("the list of the dry run is gone", "gone", err)
		}
		if number+1 < f.order.CountedPages {
			next = corejob.Token(number + 1)
		}
		return page.Items, next, err
	}
}

// writePage stores the next page. A worker that stood still may have been replaced: its pages must not
// take the place of those of the next one. So it replaces a page, which an earlier try has left, only
// once it knows that the job is still its own.
func (f *finding) writePage(ctx context.Context, page corejob.Page) error {
	if err := f.record(ctx); err != nil {
		return err
	}
	page.New = true
	err := f.store.WritePage(ctx, f.order.ID, f.pages, page)
	if wire.CodeOf(err) != wire.AlreadyExists {
		return err
	}
	if err := f.record(ctx); err != nil {
		return err
	}
	page.New = false
	return f.store.WritePage(ctx, f.order.ID, f.pages, page)
}

// writePages goes through the pages of a list.
func (f *finding) writePages(ctx context.Context, list func(token []byte) (items []corejob.Item, next []byte, err error)) error {
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		if err := job.Stopped(ctx); err != nil {
			return err
		}
		items, next, err := list(token)
		if err != nil {
			return err
		}
		token = next
		if items = f.unlisted(items); len(items) > 0 {
			if err := f.writePage(ctx, corejob.Page{Items: items}); err != nil {
				return err
			}
			f.pages++
		}
		f.heartbeat(ctx)
	}
	return nil
}

// unlisted are the items that were not listed before. An id may have failed more than once.
// Only its last run is tried again: the others are found, and skipped.
func (f *finding) unlisted(items []corejob.Item) (fresh []corejob.Item) {
	for _, item := range items {
		name := item.String()
		if f.order.Operation == corejob.Redeliver {
			name = item.RunID
		}
		if !f.listed[name] {
			f.listed[name] = true
			fresh = append(fresh, item)
		}
	}
	return fresh
}
