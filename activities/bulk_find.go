package activities

import (
	"context"

	"github.com/wakecall/wakecall/core/job"
)

// finding stores each timer of a bulk job once. A timer may be listed again if it begins
// another run.
type finding struct {
	*bulk
	listed map[string]bool
	pages  int
}

// writePages goes through the pages of a list.
func (f *finding) writePages(ctx context.Context, list func(token []byte) (items []job.Item, next []byte, err error)) error {
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		items, next, err := list(token)
		if err != nil {
			return err
		}
		token = next
		if items = f.unlisted(items); len(items) > 0 && !f.order.DryRun {
			if err := f.store.WritePage(ctx, f.order.ID, f.pages, job.Page{Items: items}); err != nil {
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
func (f *finding) unlisted(items []job.Item) (fresh []job.Item) {
	for _, item := range items {
		name := item.String()
		if f.order.Operation == job.Redeliver {
			name = item.RunID
		}
		if !f.listed[name] {
			f.listed[name] = true
			fresh = append(fresh, item)
		}
	}
	return fresh
}
