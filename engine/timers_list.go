package engine

import (
	"context"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Filter selects timers.
type Filter = timer.Filter

// Page is one page of a list.
type Page struct {
	Timers []timer.View
	Next   []byte // empty on the last page
}

// PageRequest asks for one page.
type PageRequest struct {
	Filter Filter
	Sort   timer.Sort
	Size   int
	Token  []byte
	// OnePerBooking is whether a failed timer that was tried again is listed once, by the run
	// that tries it again. It takes a call where a timer of the page has failed.
	OnePerBooking bool
	// Progress is whether to show attempts and how a timer ended, which takes a call for
	// each timer whose delivery has begun.
	Progress bool
}

// List reads one page from Temporal's visibility, which lags behind by a
// moment and must not be used to decide whether a timer exists. A page may
// hold fewer timers than its size, even none, while more follow. Its error is
// [wire.Unavailable], or [wire.InvalidRequest] for a token that is not ours.
func (t *Timers) List(ctx context.Context, r PageRequest) (page Page, err error) {
	if r.Sort == "" {
		page, err = t.page(ctx, r)
	} else {
		page, err = t.sortedPage(ctx, r)
	}
	if err == nil && r.OnePerBooking {
		page.Timers, err = t.withoutRedelivered(ctx, page.Timers)
	}
	if err == nil && r.Progress {
		err = t.showProgress(ctx, page.Timers)
	}
	return page, err
}

// page is one in visibility's own order.
func (t *Timers) page(ctx context.Context, r PageRequest) (Page, error) {
	response, err := t.list(ctx, queryOf(r.Filter), r.Size, r.Token)
	if err != nil {
		return Page{}, err
	}
	return Page{Timers: t.admitted(ctx, r.Filter, response.GetExecutions()), Next: response.GetNextPageToken()}, nil
}

// admitted are the runs that a filter selects to the letter.
func (t *Timers) admitted(ctx context.Context, f Filter, infos []*workflowpb.WorkflowExecutionInfo) []timer.View {
	views := []timer.View{}
	for _, info := range infos {
		view, err := t.view(ctx, info)
		if err == nil && f.Admits(view) {
			views = append(views, view)
		}
	}
	return views
}

// queryOf is a filter in the language of Temporal's visibility.
func queryOf(f Filter) query.Query {
	conditions := []query.Query{ofTimers(), inStatus(f.Status)}
	if f.BusinessType != "" {
		conditions = append(conditions, attrBusinessType.Is(f.BusinessType))
	}
	if f.BusinessID != "" {
		conditions = append(conditions, attrBusinessID.Is(f.BusinessID))
	}
	for _, keyword := range f.Labels.Keywords() {
		conditions = append(conditions, attrLabels.Is(keyword))
	}
	if f.DueFrom != 0 {
		conditions = append(conditions, attrDueAt.From(f.DueFrom.Add(-tuning.DueSlack)))
	}
	if f.DueTo != 0 {
		conditions = append(conditions, attrDueAt.To(f.DueTo.Add(tuning.DueSlack)))
	}
	if f.EndedFrom != 0 {
		conditions = append(conditions, query.CloseTime.From(f.EndedFrom))
	}
	if f.EndedTo != 0 { // the millisecond as a whole
		conditions = append(conditions, query.CloseTime.Before(f.EndedTo.Add(time.Millisecond)))
	}
	return query.All(conditions...)
}

func inStatus(status timer.Status) query.Query {
	switch status {
	case timer.Scheduled:
		return query.All(query.Status(statusRunning), attrState.Missing())
	case timer.Delivering, timer.Paused:
		return query.All(query.Status(statusRunning), attrState.Is(string(status)))
	case timer.Delivered:
		return query.All(query.Status(statusCompleted),
			query.Either(attrState.Missing(), attrState.Not(string(timer.Expired))))
	case timer.Expired:
		return query.All(query.Status(statusCompleted), attrState.Is(string(timer.Expired)))
	case timer.Failed:
		return query.Status(statusFailed, statusTimedOut)
	case timer.Cancelled:
		return query.Status(statusCanceled, statusTerminated)
	default:
		return query.NotStatus(statusContinued)
	}
}
