package jobs

import (
	"context"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
)

// Request asks for one page of jobs; an empty status matches any.
type Request struct {
	Status job.Status
	Size   int
	Token  []byte
}

// jobStatuses are Temporal's statuses for each status of a job.
var jobStatuses = map[job.Status][]enumspb.WorkflowExecutionStatus{
	job.Running: {visibility.Running},
	job.Done:    {visibility.Completed},
	job.Stopped: {visibility.Canceled, visibility.Terminated},
	job.Failed:  {visibility.Failed, visibility.TimedOut},
}

func jobStatus(of enumspb.WorkflowExecutionStatus) job.Status {
	for status, those := range jobStatuses {
		if slices.Contains(those, of) {
			return status
		}
	}
	return job.Failed
}

func (j *Jobs[O, C]) query(r Request) query.Query {
	ofKind := query.WorkflowType.Is(j.kind.Workflow)
	if those := jobStatuses[r.Status]; len(those) > 0 {
		return query.All(ofKind, query.Status(those[0], those[1:]...))
	}
	return ofKind
}

// List lists the states of jobs, the running ones first and then the latest, and returns the
// token of the next page. The list lags behind by a moment: a job that has changed its
// status since may still be on the page. The error is [wire.Unavailable].
func (j *Jobs[O, C]) List(ctx context.Context, r Request) (page []Job[O, C], next []byte, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	response, err := j.kernel.List(ctx, j.query(r), r.Size, r.Token)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range response.GetExecutions() {
		id, _ := j.kind.ID(info.GetExecution().GetWorkflowId())
		job, err := j.Get(ctx, id)
		switch {
		case wire.CodeOf(err) == wire.NotFound: // deleted since, or not one of ours
		case err != nil:
			return nil, nil, err
		default:
			page = append(page, job)
		}
	}
	return page, response.GetNextPageToken(), nil
}
