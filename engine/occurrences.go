package engine

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Upcoming returns the next nominal times of a timer, from its rule alone:
// none while it is paused, or once it has finished. Its errors are
// [timer.NotFound], [timer.NotRecurring] and [timer.Unavailable].
func (e *Engine) Upcoming(ctx context.Context, key timer.Key, count int) ([]timer.Instant, error) {
	view, err := e.recurring(ctx, key)
	if err != nil || view.Status.Finished() {
		return []timer.Instant{}, err
	}
	return append([]timer.Instant{}, view.Memo.Upcoming(count, time.Now())...), nil
}

// Occurrences is one page of those that have ended, newest first.
type Occurrences struct {
	Past []timer.Past
	Next []byte // empty on the last page
}

// Occurrences reads one page from Temporal's visibility, as far as Temporal
// retains the runs of the timer. A page may hold fewer than its size. Its errors
// are those of [Engine.Upcoming].
func (e *Engine) Occurrences(ctx context.Context, key timer.Key, size int, token []byte) (Occurrences, error) {
	view, err := e.recurring(ctx, key)
	if err != nil {
		return Occurrences{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := e.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: e.Namespace, PageSize: int32(size), NextPageToken: token,
		Query: fmt.Sprintf("WorkflowType = '%s' AND WorkflowId = '%s'", workflows.TypeTimer, key),
	})
	if err != nil {
		return Occurrences{}, translate(err)
	}
	page := Occurrences{Past: []timer.Past{}, Next: response.GetNextPageToken()}
	if last, ok := view.Ended(); ok && len(token) == 0 {
		page.Past = append(page.Past, last)
	}
	for _, info := range response.GetExecutions() {
		// A run that began because an occurrence had ended tells of that one.
		run, err := e.view(ctx, info)
		if err == nil && run.Memo.Series != nil && run.Memo.Series.Began && run.Memo.Series.Last != nil {
			page.Past = append(page.Past, *run.Memo.Series.Last)
		}
	}
	return page, nil
}

func (e *Engine) recurring(ctx context.Context, key timer.Key) (timer.View, error) {
	view, err := e.Get(ctx, key)
	if err == nil && view.Memo.Series == nil {
		return view, &timer.Error{Code: timer.NotRecurring, Timer: &view, Message: "The timer is not a recurring one."}
	}
	return view, err
}
