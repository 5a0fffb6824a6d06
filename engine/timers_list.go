package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Filter selects timers. Its zero value selects all of them.
type Filter struct {
	BusinessType string
	Status       timer.Status
	// DueFrom and DueTo bound the due time, both included; zero for open.
	DueFrom, DueTo timer.Instant
	// EndedFrom and EndedTo bound when the timer ended, both included; zero for
	// open. Either selects finished timers only.
	EndedFrom, EndedTo timer.Instant
}

// Page is one page of a list.
type Page struct {
	Timers []timer.View
	Next   []byte // empty on the last page
}

// PageRequest asks for one page.
type PageRequest struct {
	Filter Filter
	Size   int
	Token  []byte
}

// dueSlack makes up for how the stores of visibility compare times: SQLite does as
// texts, of which some lack their last zeros. The exact bounds are applied to what
// comes back.
const dueSlack = time.Second

// List reads one page from Temporal's visibility, which lags behind by a
// moment and must not be used to decide whether a timer exists. A page may
// hold fewer timers than its size, even none, while more follow. Its error is
// [timer.Unavailable], or [timer.InvalidRequest] for a token that is not ours.
func (t *Timers) List(ctx context.Context, r PageRequest) (Page, error) {
	response, err := t.list(ctx, r.Filter.query(), r.Size, r.Token)
	if err != nil {
		return Page{}, err
	}
	page := Page{Timers: []timer.View{}, Next: response.GetNextPageToken()}
	for _, info := range response.GetExecutions() {
		view, err := t.view(ctx, info)
		if err == nil && r.Filter.admits(view) {
			page.Timers = append(page.Timers, view)
		}
	}
	return page, nil
}

// query is the filter in the language of Temporal's visibility. Everything in
// it is ours or has passed a check that leaves no quote to be escaped.
func (f Filter) query() string {
	clauses := []string{fmt.Sprintf("WorkflowType = '%s'", workflows.TypeTimer), f.statusClause()}
	if f.BusinessType != "" {
		clauses = append(clauses, fmt.Sprintf("%s = '%s'", workflows.AttrBusinessType.GetName(), f.BusinessType))
	}
	if f.DueFrom != 0 {
		clauses = append(clauses, fmt.Sprintf("%s >= '%s'", workflows.AttrDueAt.GetName(), f.DueFrom.Add(-dueSlack)))
	}
	if f.DueTo != 0 {
		clauses = append(clauses, fmt.Sprintf("%s <= '%s'", workflows.AttrDueAt.GetName(), f.DueTo.Add(dueSlack)))
	}
	if f.EndedFrom != 0 {
		clauses = append(clauses, fmt.Sprintf("CloseTime >= '%s'", f.EndedFrom))
	}
	if f.EndedTo != 0 { // the millisecond as a whole
		clauses = append(clauses, fmt.Sprintf("CloseTime < '%s'", f.EndedTo.Add(time.Millisecond)))
	}
	return strings.Join(clauses, " AND ")
}

func (f Filter) statusClause() string {
	state := workflows.AttrState.GetName()
	switch f.Status {
	case timer.Scheduled:
		return "ExecutionStatus = 'Running' AND " + state + " IS NULL"
	case timer.Delivering, timer.Paused:
		return fmt.Sprintf("ExecutionStatus = 'Running' AND %s = '%s'", state, f.Status)
	case timer.Delivered:
		return fmt.Sprintf("ExecutionStatus = 'Completed' AND (%s IS NULL OR %s != '%s')", state, state, timer.Expired)
	case timer.Expired:
		return fmt.Sprintf("ExecutionStatus = 'Completed' AND %s = '%s'", state, timer.Expired)
	case timer.Failed:
		return "ExecutionStatus IN ('Failed', 'TimedOut')"
	case timer.Cancelled:
		return "ExecutionStatus IN ('Canceled', 'Terminated')"
	default:
		return "ExecutionStatus != 'ContinuedAsNew'"
	}
}

func (f Filter) admits(view timer.View) bool {
	return (f.DueFrom == 0 || view.DueAt >= f.DueFrom) && (f.DueTo == 0 || view.DueAt <= f.DueTo)
}
