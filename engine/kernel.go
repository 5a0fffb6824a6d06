package engine

import (
	"context"
	"net/url"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// kernel is what every noun stands on: one namespace of one Temporal. Each of its
// calls is bounded in time; who makes several of them bounds them together. Its errors
// are those of [translate], but where a method says otherwise.
type kernel struct {
	client    client.Client
	namespace string
	// webUI is the base URL of Temporal's Web UI; empty for none.
	webUI string
	// leaving is done once callers shall wait for no effect any more.
	leaving context.Context
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, tuning.CallTimeout)
}

// describe returns what Temporal knows of a run; "" is the latest. It leaves out what
// watches over an attempt that waits, and makes none.
func (k *kernel) describe(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	described, err := k.describeAll(ctx, workflowID, runID)
	if err == nil {
		described.PendingActivities = slices.DeleteFunc(described.GetPendingActivities(), watches)
	}
	return described, err
}

// watches is whether an activity watches over an attempt.
func watches(pending *workflowpb.PendingActivityInfo) bool {
	return pending.GetActivityType().GetName() == workflows.ActivityWatchStream
}

func (k *kernel) describeAll(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	described, err := k.client.DescribeWorkflowExecution(ctx, workflowID, runID)
	return described, translate(err)
}

// list reads one page of the runs that a query selects, from visibility, which lags
// behind by a moment. An empty token asks for the first page.
func (k *kernel) list(ctx context.Context, q query.Query, size int, token []byte) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := k.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: k.namespace, PageSize: int32(size), NextPageToken: token, Query: q.String(),
	})
	return response, translate(err)
}

// eachPage reads all the runs that a query selects, page by page, until one of them
// cannot be seen to.
func (k *kernel) eachPage(ctx context.Context, q query.Query, see func([]*workflowpb.WorkflowExecutionInfo) error) error {
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		response, err := k.list(ctx, q, tuning.MaxListed, token)
		if err != nil {
			return err
		}
		if err := see(response.GetExecutions()); err != nil {
			return err
		}
		token = response.GetNextPageToken()
	}
	return nil
}

// count counts the runs that a query selects, as far as visibility has heard of them.
func (k *kernel) count(ctx context.Context, q query.Query) (int, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := k.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: k.namespace, Query: q.String(),
	})
	return int(response.GetCount()), translate(err)
}

// eachEvent reads the history of a run.
func (k *kernel) eachEvent(ctx context.Context, workflowID, runID string, see func(*historypb.HistoryEvent)) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	history := k.client.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return translate(err)
		}
		see(event)
	}
	return nil
}

// update has a workflow take an update, and waits until it has. It needs a worker. Its
// error is Temporal's own, and the caller bounds it in time.
func (k *kernel) update(ctx context.Context, workflowID, name string, args ...any) error {
	handle, err := k.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

// waiting bounds a caller's wait for an effect. It cancels and sets no deadline:
// in the last second before one, server 1.32.1 answers a long poll at once, and
// the SDK asks again without a pause.
func (k *kernel) waiting(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	over := time.AfterFunc(wait, cancel)
	stop := context.AfterFunc(k.leaving, cancel)
	return ctx, func() { over.Stop(); stop(); cancel() }
}

// link is the address of a run in the Web UI; "" without one.
func (k *kernel) link(workflowID, runID string) string {
	if k.webUI == "" {
		return ""
	}
	return k.webUI + "/namespaces/" + url.PathEscape(k.namespace) + "/workflows/" +
		url.PathEscape(workflowID) + "/" + url.PathEscape(runID)
}

var payloads = converter.GetDefaultDataConverter()

// readMemo reads what a workflow says of itself. whose names it in the error, which is
// [wire.Internal].
func readMemo(info *workflowpb.WorkflowExecutionInfo, field, whose string, into any) error {
	if err := payloads.FromPayload(info.GetMemo().GetFields()[field], into); err != nil {
		return &wire.Error{Code: wire.Internal, Message: "The " + whose + "'s memo cannot be read.", Cause: err}
	}
	return nil
}

func running(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == statusRunning
}
