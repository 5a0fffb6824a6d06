package dispatches

import (
	"context"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Request asks for one page of dispatches; an empty filter matches any.
type Request struct {
	BusinessType string
	Status       dispatch.Status
	Size         int
	Token        []byte
}

func (r Request) query() query.Query {
	conditions := []query.Query{visibility.Dispatches(r.BusinessType)}
	switch r.Status {
	case "":
	case dispatch.Done, dispatch.DoneWithFailures, dispatch.Expired:
		conditions = append(conditions, query.Status(visibility.Completed))
	case dispatch.Failed:
		conditions = append(conditions, query.Status(visibility.Failed, visibility.TimedOut))
	case dispatch.Cancelled:
		conditions = append(conditions, query.Status(visibility.Canceled, visibility.Terminated))
	default:
		conditions = append(conditions, query.Status(visibility.Running))
	}
	return query.All(conditions...)
}

// List lists dispatches without their shards, the running ones first and then the latest,
// and returns the token of the next page. A page may have fewer entries than its size
// although more follow. The list lags behind by a moment. The error is [wire.Unavailable].
func (r *Reader) List(ctx context.Context, asked Request) (page []dispatch.View, next []byte, err error) {
	return r.page(ctx, asked, func(view dispatch.View) bool { return asked.Status == "" || view.Status == asked.Status })
}

// Ahead are a type's dispatches that send or will send, among the latest.
func (r *Reader) Ahead(ctx context.Context, businessType string) ([]dispatch.View, error) {
	page, _, err := r.page(ctx, Request{BusinessType: businessType, Status: dispatch.Running, Size: tuning.ForecastDispatches},
		func(view dispatch.View) bool { return !view.Status.Finished() })
	return page, err
}

// page is one page, reduced to the dispatches that shown selects.
func (r *Reader) page(ctx context.Context, asked Request, shown func(dispatch.View) bool) (page []dispatch.View, next []byte, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	response, err := r.kernel.List(ctx, asked.query(), asked.Size, asked.Token)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range response.GetExecutions() {
		view, err := r.viewOf(ctx, info)
		switch {
		case wire.CodeOf(err) == wire.Unavailable:
			return nil, nil, err
		case err == nil && shown(view):
			view.Shards = nil
			page = append(page, view)
		}
	}
	return page, response.GetNextPageToken(), nil
}
