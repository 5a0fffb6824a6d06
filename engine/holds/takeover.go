package holds

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// TakeOver exchanges a worker's task for a new one of this process, in one write. After [Holds.Free]
// Temporal writes once more, and hands the new task out. taken is false where nothing has changed: the
// task has ended, or cannot be exchanged, or no worker of this process has room.
//
// A worker that needs more time for a task makes the same call. The history then shows the old task
// as completed without a command. So only a task is exchanged in which the workflow makes no command
// before its timer rings (see [workflows.FirstTaskRings]). The error is [wire.Unavailable].
func (h *Holds) TakeOver(ctx context.Context, task Task) (taken bool, err error) {
	if !task.awaitsRing() {
		return false, nil
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	namespaceID, err := h.id(ctx)
	if err != nil {
		return false, err
	}
	t := &taking{Task: task, namespace: h.kernel.Namespace, token: task.token(namespaceID)}
	// The SDK takes a task from a poll, or from the answer to a start.
	_, err = h.kernel.Client.ExecuteWorkflow(context.WithValue(ctx, takingKey{}, t), client.StartWorkflowOptions{
		ID: task.workflowID, TaskQueue: workflows.TaskQueue, EnableEagerStart: true,
	}, workflows.TypeTimer)
	if refused(err) {
		return false, nil
	}
	return err == nil, kernel.Translate(err)
}

// awaitsRing reports whether the workflow has made no command yet, and makes none in this task
// before its timer rings.
func (h Task) awaitsRing() bool {
	var began time.Time // of the first task
	for i, event := range h.events {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
			enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			if began.IsZero() {
				began = event.GetEventTime().AsTime()
			}
		default:
			return false
		}
		if event.GetEventId() != int64(i+1) { // a task of a later attempt is no event
			return false
		}
	}
	if began.IsZero() {
		return false
	}
	spec, err := h.spec()
	return err == nil && workflows.FirstTaskRings(spec, began)
}

var errNoInput = errors.New("the run has no input")

// spec is the timer as the run began with it.
func (h Task) spec() (spec timer.Spec, err error) {
	input := h.events[0].GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()
	if len(input) == 0 {
		return timer.Spec{}, errNoInput
	}
	err = kernel.Payloads.FromPayload(input[0], &spec)
	return spec, err
}

// taking is a task on its way to this process.
type taking struct {
	Task

	namespace string
	token     []byte
}

type takingKey struct{}

// TakeOverInPlaceOfStarts returns the option that [Holds.TakeOver] needs on a connection. It must come
// after the options that read the tasks in answers.
func TakeOverInPlaceOfStarts() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(takeOverInPlaceOfStart)
}

//nolint:revive // gRPC's signature
func takeOverInPlaceOfStart(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	start, starts := request.(*workflowservice.StartWorkflowExecutionRequest)
	t, takes := ctx.Value(takingKey{}).(*taking)
	if !starts || !takes {
		return invoke(ctx, method, request, reply, conn, options...)
	}
	if !start.GetRequestEagerExecution() {
		return status.Error(codes.FailedPrecondition, "no worker of this process has room for the task")
	}
	exchange := &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: t.namespace, Identity: start.GetIdentity(), TaskToken: t.token,
		ForceCreateNewWorkflowTask: true, ReturnNewWorkflowTask: true,
	}
	exchanged := &workflowservice.RespondWorkflowTaskCompletedResponse{}
	method = workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName
	if err := invoke(ctx, method, exchange, exchanged, conn, options...); err != nil {
		return err
	}
	started := reply.(*workflowservice.StartWorkflowExecutionResponse)
	started.RunId, started.EagerWorkflowTask = t.runID, t.whole(exchanged.GetWorkflowTask())
	return nil
}

// whole returns a task with its whole history. Temporal sends what came after the last task.
func (t *taking) whole(task *workflowservice.PollWorkflowTaskQueueResponse) *workflowservice.PollWorkflowTaskQueueResponse {
	if history := task.GetHistory(); len(history.GetEvents()) > 0 {
		known := t.events[:min(len(t.events), int(history.GetEvents()[0].GetEventId()-1))]
		history.Events = append(known[:len(known):len(known)], history.GetEvents()...)
	}
	return task
}
