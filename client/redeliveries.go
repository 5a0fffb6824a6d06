package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const redeliveriesPath = "/v1/redeliveries"

// Redeliveries try many failed timers again, as jobs.
type Redeliveries struct{ caller *caller }

// RedeliveryOrder says which failed timers are tried again. Its zero value selects all.
type RedeliveryOrder struct {
	Filter job.FailedFilter `json:"filter"`
	// PerSecond is how many timers are started again in a second at most, 0 for the default.
	PerSecond float64 `json:"per_second,omitzero"`
}

// Redelivery is such a job as it stands.
type Redelivery struct {
	ID     string     `json:"id"`
	Status job.Status `json:"status"`
	// CancelRequested is whether it was told to stop, and no worker has heard of it yet.
	CancelRequested bool `json:"cancel_requested"`
	job.Redelivered
	job.FailedFilter
	PerSecond  float64      `json:"per_second"`
	StartedAt  wire.Instant `json:"started_at"`
	FinishedAt wire.Instant `json:"finished_at,omitzero"`
	Links      timer.Links  `json:"links"`
}

// Start orders a redelivery. It has no id of the client's: the call is not repeated when it
// may have taken effect.
func (r Redeliveries) Start(ctx context.Context, order RedeliveryOrder) (job Redelivery, err error) {
	_, err = r.caller.do(ctx, call{method: http.MethodPost, path: timersPath + "/redeliver", body: order, once: true}, &job)
	return job, err
}

// Get returns a redelivery as it stands.
func (r Redeliveries) Get(ctx context.Context, id string) (job Redelivery, err error) {
	_, err = r.caller.do(ctx, call{method: http.MethodGet, path: pathOfRedelivery(id)}, &job)
	return job, err
}

// Stop stops a redelivery. It may go on for a moment: see its status.
func (r Redeliveries) Stop(ctx context.Context, id string) (job Redelivery, err error) {
	_, err = r.caller.do(ctx, call{method: http.MethodDelete, path: pathOfRedelivery(id)}, &job)
	return job, err
}

// List lists redeliveries, those that run first and then the latest; an empty status is
// any. It ends with the first error.
func (r Redeliveries) List(ctx context.Context, status job.Status) iter.Seq2[Redelivery, error] {
	query := url.Values{}
	if status != "" {
		query.Set("status", string(status))
	}
	return pagesOf[Redelivery](ctx, r.caller, call{path: redeliveriesPath, query: query}, "redeliveries")
}

func pathOfRedelivery(id string) string { return redeliveriesPath + "/" + url.PathEscape(id) }
