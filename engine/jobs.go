package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Jobs are what is done to many timers at once, by a workflow of its own.
type Jobs struct{ *kernel }

// StartRedelivery orders failed timers to be tried again. The order is durable;
// a worker carries it out. What fails after the order is not part of it. Its
// errors are [timer.InvalidRequest] and [timer.Unavailable].
func (j *Jobs) StartRedelivery(ctx context.Context, order timer.Redelivery) (timer.RedeliveryView, error) {
	if err := order.Check().Err(); err != nil {
		return timer.RedeliveryView{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	whose := order.Filter.BusinessType
	if whose == "" {
		whose = "all business types"
	}
	id, now := uuid.NewString(), timer.At(time.Now())
	if order.Filter.EndedTo == 0 || order.Filter.EndedTo > now {
		order.Filter.EndedTo = now
	}
	run, err := j.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.RedeliveryID(id), TaskQueue: workflows.TaskQueue,
		Memo: map[string]any{workflows.MemoRedelivery: order},
		// No search attribute: who cancels timers by query means no job.
		StaticSummary: "redelivery of failed timers of " + whose,
	}, workflows.TypeRedelivery, order)
	if err != nil {
		return timer.RedeliveryView{}, translate(err)
	}
	view := j.ordered(id, run.GetRunID(), order)
	view.Status, view.StartedAt = timer.RedeliveryRunning, now
	return view, nil
}

// Redelivery returns a redelivery as it stands. It needs no worker. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (j *Jobs) Redelivery(ctx context.Context, id string) (timer.RedeliveryView, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return timer.RedeliveryView{}, noRedelivery
	}
	described, err := j.describe(ctx, workflows.RedeliveryID(id), "")
	if timer.CodeOf(err) == timer.NotFound {
		return timer.RedeliveryView{}, noRedelivery
	}
	if err != nil {
		return timer.RedeliveryView{}, err
	}
	view, err := j.redeliveryIn(id, described.GetWorkflowExecutionInfo())
	if err != nil {
		return timer.RedeliveryView{}, err
	}
	if view.Status == timer.RedeliveryRunning {
		view.Redelivered = progressIn(described)
		return view, nil
	}
	view.Redelivered, err = j.redelivered(ctx, described.GetWorkflowExecutionInfo())
	return view, err
}

// StopRedelivery stops a redelivery, and waits for it to be so, at most for
// wait: afterwards it may still be running, without a worker that has heard of
// it. One that has ended stays as it is. Its errors are those of
// [Jobs.Redelivery].
func (j *Jobs) StopRedelivery(ctx context.Context, id string, wait time.Duration) (timer.RedeliveryView, error) {
	view, err := j.Redelivery(ctx, id)
	if err != nil || view.Status != timer.RedeliveryRunning {
		return view, err
	}
	call, cancel := bounded(ctx)
	defer cancel()
	if err := j.client.CancelWorkflow(call, workflows.RedeliveryID(id), ""); err != nil {
		return timer.RedeliveryView{}, translate(err)
	}
	waiting, stop := j.waiting(ctx, wait)
	defer stop()
	// However it ends, or if it does not, what it says then is the answer.
	_ = j.client.GetWorkflow(waiting, workflows.RedeliveryID(id), "").Get(waiting, nil)
	return j.Redelivery(ctx, id)
}

var noRedelivery = &timer.Error{Code: timer.NotFound, Message: "There is no such redelivery."}

// redeliveryIn is what can be told from a workflow's info.
func (j *Jobs) redeliveryIn(id string, info *workflowpb.WorkflowExecutionInfo) (timer.RedeliveryView, error) {
	if info.GetType().GetName() != workflows.TypeRedelivery {
		return timer.RedeliveryView{}, noRedelivery
	}
	var order timer.Redelivery
	if err := readMemo(info, workflows.MemoRedelivery, "redelivery", &order); err != nil {
		return timer.RedeliveryView{}, err
	}
	view := j.ordered(id, info.GetExecution().GetRunId(), order)
	view.StartedAt = timer.At(info.GetStartTime().AsTime())
	if closed := info.GetCloseTime(); closed != nil {
		view.FinishedAt = timer.At(closed.AsTime())
	}
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		view.Status = timer.RedeliveryRunning
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		view.Status = timer.RedeliveryDone
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		view.Status = timer.RedeliveryStopped
	default:
		view.Status = timer.RedeliveryFailed
	}
	return view, nil
}

func (j *Jobs) ordered(id, runID string, order timer.Redelivery) timer.RedeliveryView {
	return timer.RedeliveryView{
		ID: id, PerSecond: order.PerSecond, FailedFilter: order.Filter,
		Links: timer.Links{WebUI: j.link(workflows.RedeliveryID(id), runID)},
	}
}

// progressIn is what the worker last said of its progress.
func progressIn(described *workflowservice.DescribeWorkflowExecutionResponse) timer.Redelivered {
	for _, pending := range described.GetPendingActivities() {
		var progress timer.RedeliveryProgress
		if payloads.FromPayloads(pending.GetHeartbeatDetails(), &progress) == nil {
			return progress.Redelivered
		}
	}
	return timer.Redelivered{}
}

// redelivered is what became of the timers of a redelivery that has ended. One
// that was terminated, or stopped while no worker had it, tells nothing.
func (j *Jobs) redelivered(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (done timer.Redelivered, err error) {
	run := j.client.GetWorkflow(ctx, info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId())
	err = run.Get(ctx, &done)
	if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok && stopped.HasDetails() {
		return done, stopped.Details(&done)
	}
	if is[*temporal.WorkflowExecutionError](err) {
		return done, nil
	}
	return done, translate(err)
}
