package engine

import (
	"context"

	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// RedeliveriesRequest asks for one page of redeliveries; an empty status is any.
type RedeliveriesRequest struct {
	Status timer.RedeliveryStatus
	Size   int
	Token  []byte
}

func (r RedeliveriesRequest) query() query.Query {
	status := map[timer.RedeliveryStatus]query.Query{
		timer.RedeliveryRunning: query.Status(statusRunning),
		timer.RedeliveryDone:    query.Status(statusCompleted),
		timer.RedeliveryStopped: query.Status(statusCanceled, statusTerminated),
		timer.RedeliveryFailed:  query.Status(statusFailed, statusTimedOut),
	}
	return query.All(query.WorkflowType.Is(workflows.TypeRedelivery), status[r.Status])
}

// Redeliveries lists redeliveries, those that run first and then the latest, each as
// it stands, and the token of the next page. The list lags behind by a moment: one
// that has changed its status since may be on the page all the same. Its error is
// [timer.Unavailable].
func (j *Jobs) Redeliveries(ctx context.Context, r RedeliveriesRequest) (page []timer.RedeliveryView, next []byte, err error) {
	response, err := j.list(ctx, r.query(), r.Size, r.Token)
	if err != nil {
		return nil, nil, err
	}
	page = []timer.RedeliveryView{}
	for _, info := range response.GetExecutions() {
		id, _ := workflows.RedeliveryOf(info.GetExecution().GetWorkflowId())
		view, err := j.Redelivery(ctx, id)
		switch {
		case timer.CodeOf(err) == timer.NotFound: // forgotten since, or not one of ours
		case err != nil:
			return nil, nil, err
		default:
			page = append(page, view)
		}
	}
	return page, response.GetNextPageToken(), nil
}
