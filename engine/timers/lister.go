package timers

import (
	"context"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Page is one page of a list.
type Page struct {
	Timers []timer.View
	Next   []byte // empty on the last page
}

// PageRequest asks for one page.
type PageRequest struct {
	Filter timer.Filter
	Sort   timer.Sort
	Size   int
	Token  []byte
	// OnePerBooking reports whether a retried failed timer is listed once, by the run that
	// retries it. It costs a call if a timer of the page has failed.
	OnePerBooking bool
	// Progress reports whether to show attempts and how a timer ended. It costs a call for
	// each timer whose delivery has begun.
	Progress bool
	// Named asks for one timer by an id that Temporal or a receiver has told. It excludes the rest.
	Named Named
}

// Lister lists timers by what Temporal's visibility knows of them.
type Lister struct {
	kernel *kernel.Kernel
	reader *Reader
}

// NewLister returns a Lister.
func NewLister(k *kernel.Kernel, reader *Reader) *Lister { return &Lister{kernel: k, reader: reader} }

// List reads one page from Temporal's visibility. Visibility lags behind by a moment and
// must not be used to decide whether a timer exists. A page may hold fewer timers than its
// size, even none, while more follow. The error is [wire.Unavailable], or
// [wire.InvalidRequest] for a foreign token.
func (l *Lister) List(ctx context.Context, r PageRequest) (page Page, err error) {
	if r.Named != (Named{}) {
		return l.named(ctx, r.Named)
	}
	if r.Sort == "" {
		page, err = l.page(ctx, r)
	} else {
		page, err = l.sortedPage(ctx, r)
	}
	if err == nil && r.OnePerBooking {
		page.Timers, err = l.withoutRedelivered(ctx, page.Timers)
	}
	if err == nil && r.Progress {
		err = l.reader.showProgress(ctx, page.Timers)
	}
	return page, err
}

// Count counts the runs that a filter selects, as far as visibility shows them.
func (l *Lister) Count(ctx context.Context, f timer.Filter) (int, error) {
	return l.kernel.Count(ctx, QueryOf(f))
}

// page is one page in visibility's own order.
func (l *Lister) page(ctx context.Context, r PageRequest) (Page, error) {
	if none, err := l.isEmpty(ctx, r); none || err != nil {
		return Page{Timers: []timer.View{}}, err
	}
	response, err := l.kernel.List(ctx, QueryOf(r.Filter), r.Size, r.Token)
	if err != nil {
		return Page{}, err
	}
	return Page{Timers: l.admitted(ctx, r.Filter, response.GetExecutions()), Next: response.GetNextPageToken()}, nil
}

// isEmpty reports whether a list by due time has nothing at all. PostgreSQL sees that in an index, as for the late
// timers of an installation that has none. To list none it reads all timers of the status.
func (l *Lister) isEmpty(ctx context.Context, r PageRequest) (bool, error) {
	if len(r.Token) > 0 || r.Filter.DueFrom == 0 && r.Filter.DueTo == 0 {
		return false, nil
	}
	n, err := l.Count(ctx, r.Filter)
	return n == 0, err
}

// admitted are the runs that match a filter exactly.
func (l *Lister) admitted(ctx context.Context, f timer.Filter, infos []*workflowpb.WorkflowExecutionInfo) []timer.View {
	views := []timer.View{}
	for _, info := range infos {
		view, err := l.reader.View(ctx, info)
		if err == nil && f.Admits(view) {
			views = append(views, view)
		}
	}
	return views
}

// QueryOf is a filter in the language of Temporal's visibility.
func QueryOf(f timer.Filter) query.Query {
	var due []query.Query
	if f.DueFrom != 0 {
		due = append(due, visibility.DueAt.From(f.DueFrom.Add(-tuning.DueSlack)))
	}
	if f.DueTo != 0 {
		due = append(due, visibility.DueAt.To(f.DueTo.Add(tuning.DueSlack)))
	}
	return dueIn(f, due...)
}

// dueIn is a filter with these bounds of the due time in place of its own.
func dueIn(f timer.Filter, bounds ...query.Query) query.Query {
	conditions := []query.Query{visibility.Timers(), inStatus(f.Status, len(bounds) > 0)}
	if f.BusinessType != "" {
		conditions = append(conditions, visibility.BusinessType.Is(f.BusinessType))
	}
	if f.BusinessID != "" {
		conditions = append(conditions, visibility.BusinessID.Is(f.BusinessID))
	}
	for _, keyword := range f.Labels.Keywords() {
		conditions = append(conditions, visibility.Labels.Is(keyword))
	}
	if f.Recurring {
		conditions = append(conditions, visibility.Labels.Is(timer.KeywordRecurring))
	}
	conditions = append(conditions, bounds...)
	if f.EndedFrom != 0 {
		conditions = append(conditions, query.CloseTime.From(f.EndedFrom))
	}
	if f.EndedTo != 0 { // the millisecond as a whole
		conditions = append(conditions, query.CloseTime.Before(f.EndedTo.Add(time.Millisecond)))
	}
	return query.All(conditions...)
}

// inStatus selects a status, or the latest runs of all timers. SQLite finds due times by an index that begins
// with the status, so beside bounds of the due time the statuses are named.
func inStatus(status timer.Status, bounded bool) query.Query {
	switch status {
	case timer.Scheduled:
		return query.All(query.Status(visibility.Running), visibility.State.Missing())
	case timer.Delivering, timer.Paused:
		return query.All(query.Status(visibility.Running), visibility.State.Is(string(status)))
	case timer.Delivered:
		return query.All(query.Status(visibility.Completed),
			query.Either(visibility.State.Missing(), visibility.State.Not(string(timer.Expired))))
	case timer.Expired:
		return query.All(query.Status(visibility.Completed), visibility.State.Is(string(timer.Expired)))
	case timer.Failed:
		return query.Status(visibility.Failed, visibility.TimedOut)
	case timer.Cancelled:
		return query.Status(visibility.Canceled, visibility.Terminated)
	case "":
		if bounded {
			return query.Status(visibility.Running, visibility.NotRunning...)
		}
	}
	return query.NotStatus(visibility.Continued)
}
