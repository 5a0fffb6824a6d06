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

// redeliveryPage is how many failed timers are listed at once.
const redeliveryPage = 100

// StartRedelivery orders failed timers to be tried again. The order is durable;
// a worker carries it out. What fails after the order is not part of it. Its
// errors are [timer.InvalidRequest] and [timer.Unavailable].
func (e *Engine) StartRedelivery(ctx context.Context, order timer.Redelivery) (timer.RedeliveryView, error) {
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
	run, err := e.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.RedeliveryID(id), TaskQueue: workflows.TaskQueue,
		Memo: map[string]any{workflows.MemoRedelivery: order},
		// No search attribute: who cancels timers by query means no job.
		StaticSummary: "redelivery of failed timers of " + whose,
	}, workflows.TypeRedelivery, order)
	if err != nil {
		return timer.RedeliveryView{}, translate(err)
	}
	view := e.ordered(id, run.GetRunID(), order)
	view.Status, view.StartedAt = timer.RedeliveryRunning, now
	return view, nil
}

// Redelivery returns a redelivery as it stands. It needs no worker. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) Redelivery(ctx context.Context, id string) (timer.RedeliveryView, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return timer.RedeliveryView{}, noRedelivery
	}
	described, err := e.Client.DescribeWorkflowExecution(ctx, workflows.RedeliveryID(id), "")
	if timer.CodeOf(translate(err)) == timer.NotFound {
		return timer.RedeliveryView{}, noRedelivery
	}
	if err != nil {
		return timer.RedeliveryView{}, translate(err)
	}
	view, err := e.redeliveryIn(id, described.GetWorkflowExecutionInfo())
	if err != nil {
		return timer.RedeliveryView{}, err
	}
	if view.Status == timer.RedeliveryRunning {
		view.Redelivered = progressIn(described)
		return view, nil
	}
	view.Redelivered, err = e.redelivered(ctx, described.GetWorkflowExecutionInfo())
	return view, err
}

// StopRedelivery stops a redelivery, and waits for it to be so, at most for
// wait: afterwards it may still be running, without a worker that has heard of
// it. One that has ended stays as it is. Its errors are those of
// [Engine.Redelivery].
func (e *Engine) StopRedelivery(ctx context.Context, id string, wait time.Duration) (timer.RedeliveryView, error) {
	view, err := e.Redelivery(ctx, id)
	if err != nil || view.Status != timer.RedeliveryRunning {
		return view, err
	}
	call, cancel := bounded(ctx)
	defer cancel()
	if err := e.Client.CancelWorkflow(call, workflows.RedeliveryID(id), ""); err != nil {
		return timer.RedeliveryView{}, translate(err)
	}
	waiting, stop := e.waiting(ctx, wait)
	defer stop()
	// However it ends, or if it does not, what it says then is the answer.
	_ = e.Client.GetWorkflow(waiting, workflows.RedeliveryID(id), "").Get(waiting, nil)
	return e.Redelivery(ctx, id)
}

var noRedelivery = &timer.Error{Code: timer.NotFound, Message: "There is no such redelivery."}

// redeliveryIn is what can be told from a workflow's info.
func (e *Engine) redeliveryIn(id string, info *workflowpb.WorkflowExecutionInfo) (timer.RedeliveryView, error) {
	if info.GetType().GetName() != workflows.TypeRedelivery {
		return timer.RedeliveryView{}, noRedelivery
	}
	var order timer.Redelivery
	if err := payloads.FromPayload(info.GetMemo().GetFields()[workflows.MemoRedelivery], &order); err != nil {
		return timer.RedeliveryView{}, &timer.Error{Code: timer.Internal, Message: "The redelivery's memo cannot be read.", Cause: err}
	}
	view := e.ordered(id, info.GetExecution().GetRunId(), order)
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

func (e *Engine) ordered(id, runID string, order timer.Redelivery) timer.RedeliveryView {
	return timer.RedeliveryView{
		ID: id, PerSecond: order.PerSecond, FailedFilter: order.Filter,
		Links: timer.Links{WebUI: e.workflowUI(workflows.RedeliveryID(id), runID)},
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
func (e *Engine) redelivered(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (done timer.Redelivered, err error) {
	run := e.Client.GetWorkflow(ctx, info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId())
	err = run.Get(ctx, &done)
	if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok && stopped.HasDetails() {
		return done, stopped.Details(&done)
	}
	if is[*temporal.WorkflowExecutionError](err) {
		return done, nil
	}
	return done, translate(err)
}

func failedOnly(filter timer.FailedFilter) Filter {
	return Filter{
		BusinessType: filter.BusinessType, Status: timer.Failed, EndedFrom: filter.EndedFrom, EndedTo: filter.EndedTo,
	}
}

// CountFailed counts the failed runs that a filter selects. Its error is
// [timer.Unavailable].
func (e *Engine) CountFailed(ctx context.Context, filter timer.FailedFilter) (int, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := e.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: e.Namespace, Query: failedOnly(filter).query(),
	})
	return int(response.GetCount()), translate(err)
}

// ListFailed reads one page of the failed runs that a filter selects, the
// latest first, and the token of the next page. Its error is [timer.Unavailable].
func (e *Engine) ListFailed(ctx context.Context, filter timer.FailedFilter, token []byte) ([]timer.View, []byte, error) {
	page, err := e.List(ctx, PageRequest{Filter: failedOnly(filter), Size: redeliveryPage, Token: token})
	return page.Timers, page.Next, err
}
