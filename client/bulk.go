package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const bulkPath = "/v1/bulk"

// Bulk applies one operation to all timers that match a filter, as a job.
type Bulk struct{ caller *caller }

// BulkOrder is the order for a bulk job. Shift belongs to [job.Move] and Edit to [job.Edit].
type BulkOrder struct {
	// ID is the client's own. If empty, one is generated, so that the tries of one call are one
	// job.
	ID        string        `json:"id"`
	Operation job.Operation `json:"operation"`
	Filter    timer.Filter  `json:"filter"`
	Shift     wire.Duration `json:"shift,omitzero"`
	Edit      *Terms        `json:"edit,omitempty"`
	// PerSecond bounds the timers changed in a second; 0 for the default.
	PerSecond float64 `json:"per_second,omitzero"`
	// DryRun only counts the timers.
	DryRun bool `json:"dry_run,omitzero"`
	// Counted is the id of a dry run: the job works on the timers that it found. Operation and Filter
	// are those that the dry run shows.
	Counted string `json:"counted,omitzero"`
}

// BulkJob is a bulk job.
type BulkJob = job.View

// Start orders a job. created is false if the same order was given under the same id before.
func (b Bulk) Start(ctx context.Context, order BulkOrder) (job BulkJob, created bool, err error) {
	if order.ID == "" {
		order.ID = uuid.NewString()
	}
	status, err := b.caller.do(ctx, call{method: http.MethodPost, path: bulkPath, body: order}, &job)
	return job, status == http.StatusAccepted, err
}

// Get returns a job.
func (b Bulk) Get(ctx context.Context, id string) (job BulkJob, err error) {
	_, err = b.caller.do(ctx, call{method: http.MethodGet, path: pathOfBulk(id)}, &job)
	return job, err
}

// Stop stops a job. It may go on for a moment: see its status.
func (b Bulk) Stop(ctx context.Context, id string) (job BulkJob, err error) {
	_, err = b.caller.do(ctx, call{method: http.MethodDelete, path: pathOfBulk(id)}, &job)
	return job, err
}

// List lists jobs, the running ones first and then the latest. An empty status selects any. It
// ends with the first error.
func (b Bulk) List(ctx context.Context, status job.Status) iter.Seq2[BulkJob, error] {
	query := url.Values{}
	if status != "" {
		query.Set("status", string(status))
	}
	return pagesOf[BulkJob](ctx, b.caller, call{path: bulkPath, query: query}, "jobs")
}

// Results returns the outcomes of a job so far, timer by timer. It ends with the first error.
func (b Bulk) Results(ctx context.Context, id string) iter.Seq2[job.Line, error] {
	return linesOf[job.Line](ctx, b.caller, pathOfBulk(id)+"/results")
}

func pathOfBulk(id string) string { return bulkPath + "/" + url.PathEscape(id) }
