package enginetest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// task is the workflow task of a run. It waits for a poll.
type task struct {
	// scheduled is the number of its event. order is its place among all tasks.
	scheduled, order int64
	// turn counts the tasks of its key that came to the queue, up to itself; 0 before the count.
	turn    int
	started bool
}

// taskTimeout is how long a worker may hold a task.
const taskTimeout = 10 * time.Second

// delayed reports whether the first task of a run is still to come.
func (r *run) delayed() bool {
	return r.task == nil && r.info().GetExecutionTime().AsTime().After(r.info().GetStartTime().AsTime())
}

// schedule adds a task to a run without one. The caller holds the lock.
func (r *run) schedule() {
	if r.task != nil || r.described.PendingWorkflowTask != nil {
		return
	}
	r.record(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
			WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{
				Attempt: 1, StartToCloseTimeout: durationpb.New(taskTimeout),
			},
		},
	})
	last := r.events[len(r.events)-1]
	r.task = &task{scheduled: last.GetEventId(), order: last.GetEventTime().AsTime().UnixNano()}
	r.described.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{
		State: enumspb.PENDING_WORKFLOW_TASK_STATE_SCHEDULED, ScheduledTime: last.GetEventTime(), Attempt: 1,
	}
}

// hold gives the task of a run to a worker. The caller holds the lock.
func (r *run) hold(worker string) {
	r.schedule()
	r.task.started = true
	now := timestamppb.New(time.Now())
	r.described.PendingWorkflowTask.State, r.described.PendingWorkflowTask.StartedTime = enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED, now
	r.record(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: worker, ScheduledEventId: r.task.scheduled},
		},
	})
}

// release ends the task of a run with an event. The caller holds the lock.
func (r *run) release(kind enumspb.EventType) {
	r.task, r.described.PendingWorkflowTask = nil, nil
	r.record(kind, &historypb.HistoryEvent{})
}

// waiting returns the runs whose tasks wait on a queue, in their order. With fairness the keys take
// turns. The caller holds the lock.
func (s *store) waiting(queue string) (runs []*run) {
	for _, r := range s.runs {
		if r.queue == queue && r.task != nil && !r.task.started {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return cmp.Compare(a.task.order, b.task.order) })
	if s.Unfair {
		return runs
	}
	for _, r := range runs {
		if key := queue + "/" + r.fairness; r.task.turn == 0 {
			if s.turns == nil {
				s.turns = map[string]int{}
			}
			s.turns[key]++
			r.task.turn = s.turns[key]
		}
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return cmp.Compare(a.task.turn, b.task.turn) })
	return runs
}

// The fields of the server's task token that identify the task.
const (
	tokenWorkflowID     protowire.Number = 2
	tokenRunID          protowire.Number = 3
	tokenScheduledEvent protowire.Number = 4
)

func (r *run) token() (token []byte) {
	token = protowire.AppendString(protowire.AppendTag(token, tokenWorkflowID, protowire.BytesType), r.id())
	token = protowire.AppendString(protowire.AppendTag(token, tokenRunID, protowire.BytesType), r.runID())
	return protowire.AppendVarint(protowire.AppendTag(token, tokenScheduledEvent, protowire.VarintType), uint64(r.task.scheduled))
}

// holder returns the run of the task with a token. The caller holds the lock.
func (s *store) holder(token []byte) (*run, error) {
	fields := map[protowire.Number]string{}
	for len(token) > 0 {
		field, kind, n := protowire.ConsumeTag(token)
		if n < 0 {
			return nil, serviceerror.NewInvalidArgument("invalid task token")
		}
		token = token[n:]
		switch kind {
		case protowire.VarintType:
			value, n := protowire.ConsumeVarint(token)
			fields[field], token = strconv.FormatUint(value, 10), token[max(n, 0):]
		case protowire.BytesType:
			value, n := protowire.ConsumeString(token)
			fields[field], token = value, token[max(n, 0):]
		default:
			return nil, serviceerror.NewInvalidArgument("invalid task token")
		}
	}
	r := s.latest(fields[tokenWorkflowID], fields[tokenRunID])
	if r == nil || r.task == nil || !r.task.started || strconv.FormatInt(r.task.scheduled, 10) != fields[tokenScheduledEvent] {
		return nil, serviceerror.NewNotFound("workflow task not found")
	}
	return r, nil
}

// PollWorkflowTaskQueue returns at once if no task waits. A server holds the poll for a minute.
func (s service) PollWorkflowTaskQueue(
	_ context.Context, r *workflowservice.PollWorkflowTaskQueueRequest, _ ...grpc.CallOption,
) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	queue := r.GetTaskQueue().GetName()
	return called(s.t, Call{Name: "PollWorkflowTaskQueue", Of: queue}, func() (*workflowservice.PollWorkflowTaskQueueResponse, error) {
		for _, waits := range s.t.waiting(queue) {
			waits.hold(r.GetIdentity())
			return &workflowservice.PollWorkflowTaskQueueResponse{
				TaskToken: waits.token(), WorkflowExecution: waits.info().GetExecution(), WorkflowType: waits.info().GetType(),
				History: &historypb.History{Events: slices.Clone(waits.events)},
			}, nil
		}
		return &workflowservice.PollWorkflowTaskQueueResponse{}, nil
	})
}

// RespondWorkflowTaskFailed returns a task to its queue.
func (s service) RespondWorkflowTaskFailed(
	_ context.Context, r *workflowservice.RespondWorkflowTaskFailedRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	return called(s.t, Call{Name: "RespondWorkflowTaskFailed"}, func() (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
		if s.t.StrangeTokens {
			return nil, serviceerror.NewInvalidArgument("invalid task token")
		}
		held, err := s.t.holder(r.GetTaskToken())
		if err != nil {
			return nil, err
		}
		held.release(enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED)
		held.schedule()
		return &workflowservice.RespondWorkflowTaskFailedResponse{}, nil
	})
}

// RespondWorkflowTaskCompleted ends a task, and carries out its command, if it has one.
func (s service) RespondWorkflowTaskCompleted(
	_ context.Context, r *workflowservice.RespondWorkflowTaskCompletedRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	return called(s.t, Call{Name: "RespondWorkflowTaskCompleted"}, func() (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
		held, err := s.t.holder(r.GetTaskToken())
		if err != nil {
			return nil, err
		}
		held.release(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
		for _, command := range r.GetCommands() {
			s.t.carryOut(held, command)
		}
		return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
	})
}

// carryOut carries out a command. The caller holds the lock.
func (s *store) carryOut(r *run, command *commandpb.Command) {
	switch of := command.GetAttributes().(type) {
	case *commandpb.Command_CompleteWorkflowExecutionCommandAttributes:
		r.complete(of.CompleteWorkflowExecutionCommandAttributes.GetResult())
	case *commandpb.Command_FailWorkflowExecutionCommandAttributes:
		r.fail(temporal.GetDefaultFailureConverter().FailureToError(of.FailWorkflowExecutionCommandAttributes.GetFailure()))
	case *commandpb.Command_CancelWorkflowExecutionCommandAttributes:
		r.cancel()
	case *commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes:
		attributes := of.ContinueAsNewWorkflowExecutionCommandAttributes
		next := s.begin(r.id(), attributes.GetWorkflowType().GetName(), r.info().GetFirstRunId(), attributes.GetInput())
		next.queue = r.queue
		next.delay(max(attributes.GetBackoffStartInterval().AsDuration(), s.ReuseInterval))
		r.beginNext(next)
	}
}

// complete ends a run with its result. The caller holds the lock.
func (r *run) complete(result *commonpb.Payloads) {
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: result},
		},
	})
}

// fail ends a run with an error. The caller holds the lock.
func (r *run) fail(err error) {
	r.result = executionError(err)
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
			WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{
				Failure: temporal.GetDefaultFailureConverter().ErrorToFailure(err),
			},
		},
	})
}

// cancel ends a run whose cancel was requested. The caller holds the lock.
func (r *run) cancel(details ...any) {
	r.result = executionError(temporal.NewCanceledError(details...))
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes{},
	})
}

// beginNext ends a run that continues as new. The caller holds the lock.
func (r *run) beginNext(next *run) {
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
				NewExecutionRunId: next.runID(),
				Input:             next.events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(),
			},
		},
	})
	next.events[0].GetWorkflowExecutionStartedEventAttributes().ContinuedExecutionRunId = r.runID()
}
