package holds

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
)

var began = time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)

const (
	scheduled = enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
	started   = enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED
	completed = enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
)

// runOf is the history of a run with some events after its start.
func runOf(t *testing.T, spec any, after ...enumspb.EventType) (events []*historypb.HistoryEvent) {
	t.Helper()
	input, err := kernel.Payloads.ToPayloads(spec)
	require.NoError(t, err)
	events = []*historypb.HistoryEvent{{
		EventId: 1, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input},
		},
	}}
	for i, kind := range after {
		events = append(events, &historypb.HistoryEvent{EventId: int64(i + 2), EventType: kind, EventTime: timestamppb.New(began)})
	}
	return events
}

// due is a timer that is due a moment after a worker got its first task.
func due() timer.Spec {
	return timer.Spec{Memo: timer.Memo{DueAt: wire.At(began.Add(time.Millisecond)), CreatedAt: wire.At(began)}}
}

// A task is taken only where the workflow has made no command, and makes none before its timer
// rings. Any other one is freed.
func TestATaskThatAwaitsItsRing(t *testing.T) {
	t.Parallel()
	later, ongoing, paused := due(), due(), due()
	later.DueAt = wire.At(began.Add(time.Hour))
	ongoing.Ongoing = &delivery.Report{Result: delivery.ResultFailed}
	paused.Suspended = true
	bare := runOf(t, due(), scheduled, started)
	bare[0].GetWorkflowExecutionStartedEventAttributes().Input = nil
	_, err := Task{events: runOf(t, due())}.spec()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		events []*historypb.HistoryEvent
		awaits bool
	}{
		"first":                  {runOf(t, due(), scheduled, started), true},
		"taken before":           {runOf(t, due(), scheduled, started, completed, scheduled, started), true},
		"of no worker":           {runOf(t, due(), scheduled), false},
		"of a later attempt":     {append(runOf(t, due(), scheduled), &historypb.HistoryEvent{EventId: 4, EventType: started}), false},
		"freed before":           {runOf(t, due(), scheduled, started, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, scheduled, started), false},
		"timed out before":       {runOf(t, due(), scheduled, started, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, scheduled, started), false},
		"changed":                {runOf(t, due(), enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, scheduled, started), false},
		"cancelled":              {runOf(t, due(), enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, scheduled, started), false},
		"with a command":         {runOf(t, due(), scheduled, started, completed, enumspb.EVENT_TYPE_MARKER_RECORDED, scheduled, started), false},
		"not due":                {runOf(t, later, scheduled, started), false},
		"with a delivery before": {runOf(t, ongoing, scheduled, started), false},
		"paused":                 {runOf(t, paused, scheduled, started), false},
		"of another workflow":    {runOf(t, "text", scheduled, started), false},
		"without an input":       {bare, false},
	} {
		require.Equal(t, c.awaits, Task{events: c.events}.awaitsRing(), name)
	}
}

// A start that takes a task is an exchange of the task on the wire, and its answer brings the task
// with its whole history. Every other start is one.
func TestATakeIsAnExchange(t *testing.T) {
	t.Parallel()
	whole := runOf(t, due(), scheduled, started, completed, scheduled, started)
	task := &taking{Task: Task{runID: "run", events: whole[:3]}, namespace: "default", token: []byte("token")}
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		taking *taking
		room   bool
		fails  error
		method string
		code   codes.Code
		events int
	}{
		"taken":        {task, true, nil, workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName, codes.OK, 6},
		"refused":      {task, true, failed, workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName, codes.Unknown, 0},
		"no room":      {task, false, nil, "", codes.FailedPrecondition, 0},
		"just a start": {nil, true, nil, workflowservice.WorkflowService_StartWorkflowExecution_FullMethodName, codes.OK, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := ""
			invoke := func(_ context.Context, method string, request, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				called = method
				exchange, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest)
				if !ok || c.fails != nil {
					return c.fails
				}
				require.Equal(t, []string{"default", "self", "token"}, []string{exchange.GetNamespace(), exchange.GetIdentity(), string(exchange.GetTaskToken())})
				require.True(t, exchange.GetForceCreateNewWorkflowTask() && exchange.GetReturnNewWorkflowTask())
				reply.(*workflowservice.RespondWorkflowTaskCompletedResponse).WorkflowTask = &workflowservice.PollWorkflowTaskQueueResponse{
					WorkflowExecution: &commonpb.WorkflowExecution{RunId: "run"}, History: &historypb.History{Events: whole[3:]},
				}
				return nil
			}
			ctx := t.Context()
			if c.taking != nil {
				ctx = context.WithValue(ctx, takingKey{}, c.taking)
			}
			reply := &workflowservice.StartWorkflowExecutionResponse{}
			request := &workflowservice.StartWorkflowExecutionRequest{Identity: "self", RequestEagerExecution: c.room}
			err := takeOverInPlaceOfStart(ctx, workflowservice.WorkflowService_StartWorkflowExecution_FullMethodName, request, reply, nil, invoke)
			require.Equal(t, c.code, status.Code(err))
			require.Equal(t, c.method, called)
			events := reply.GetEagerWorkflowTask().GetHistory().GetEvents()
			require.Len(t, events, c.events)
			for i, event := range events {
				require.Equal(t, int64(i+1), event.GetEventId())
			}
		})
	}
}
