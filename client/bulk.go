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

// Bulk does the same with all timers that a filter finds, as a job.
type Bulk struct{ caller *caller }

// BulkOrder is what to do with which timers. Shift goes with [job.Move] and Edit
// with [job.Edit].
type BulkOrder struct {
	// ID is the client's own; one is made up where it is empty, so that the tries of one
	// call are one job.
	ID        string        `json:"id"`
	Operation job.Operation `json:"operation"`
	Filter    timer.Filter  `json:"filter"`
	Shift     wire.Duration `json:"shift,omitzero"`
	Edit      *Terms        `json:"edit,omitempty"`
	// PerSecond is how many timers are changed in a second at most, 0 for the default.
	PerSecond float64 `json:"per_second,omitzero"`
	// DryRun only counts the timers.
	DryRun bool `json:"dry_run,omitzero"`
}

// BulkJob is a bulk job as it stands.
type BulkJob = job.View

// Start orders a job. created is false where the same order was given under the same id
// before.
func (b Bulk) Start(ctx context.Context, order BulkOrder) (job BulkJob, created bool, err error) {
	if order.ID == "" {
		order.ID = uuid.NewString()
	}
	status, err := b.caller.do(ctx, call{method: http.MethodPost, path: bulkPath, body: order}, &job)
	return job, status == http.StatusAccepted, err
}

// Get returns a job as it stands.
func (b Bulk) Get(ctx context.Context, id string) (job BulkJob, err error) {
	_, err = b.caller.do(ctx, call{method: http.MethodGet, path: pathOfBulk(id)}, &job)
	return job, err
}

// Stop stops a job. It may go on for a moment: see its status.
func (b Bulk) Stop(ctx context.Context, id string) (job BulkJob, err error) {
	_, err = b.caller.do(ctx, call{method: http.MethodDelete, path: pathOfBulk(id)}, &job)
	return job, err
}

// List lists jobs, those that run first and then the latest; an empty status is any. It
// ends with the first error.
func (b Bulk) List(ctx context.Context, status job.Status) iter.Seq2[BulkJob, error] {
	query := url.Values{}
	if status != "" {
		query.Set("status", string(status))
	}
	return pagesOf[BulkJob](ctx, b.caller, call{path: bulkPath, query: query}, "jobs")
}

// Results reads what became of each timer that the job has been at, one after the other.
// It ends with the first error.
func (b Bulk) Results(ctx context.Context, id string) iter.Seq2[job.Line, error] {
	return linesOf[job.Line](ctx, b.caller, pathOfBulk(id)+"/results")
}

func pathOfBulk(id string) string { return bulkPath + "/" + url.PathEscape(id) }
