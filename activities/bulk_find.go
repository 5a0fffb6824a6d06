package activities

import (
	"context"

	"github.com/wakecall/wakecall/timer"
)

// finding writes down the timers that a bulk job is about, each once: one that begins another
// run meanwhile may be listed again.
type finding struct {
	*bulk
	listed map[string]bool
	pages  int
}

// all goes through the pages of a list.
func (f *finding) all(ctx context.Context, list func(token []byte) (items []timer.BulkItem, next []byte, err error)) error {
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		items, next, err := list(token)
		if err != nil {
			return err
		}
		token = next
		if items = f.fresh(items); len(items) > 0 && !f.order.DryRun {
			if err := f.store.WritePage(ctx, f.order.ID, f.pages, timer.BulkPage{Items: items}); err != nil {
				return err
			}
			f.pages++
		}
		f.beat(ctx)
	}
	return nil
}

// fresh are the items that were not listed before. An id may have failed more than once, and
// of these only the last is tried again: the others are found, and skipped.
func (f *finding) fresh(items []timer.BulkItem) (fresh []timer.BulkItem) {
	for _, item := range items {
		name := item.String()
		if f.order.Operation == timer.BulkRedeliver {
			name = item.RunID
		}
		if !f.listed[name] {
			f.listed[name] = true
			fresh = append(fresh, item)
		}
	}
	return fresh
}
