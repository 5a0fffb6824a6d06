package enginetest

import (
	"context"
	"slices"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// WorkflowService implements [client.Client].
func (t *Temporal) WorkflowService() workflowservice.WorkflowServiceClient { return service{t: t} }

// service has the calls that Temporal's client does not offer.
type service struct {
	workflowservice.WorkflowServiceClient
	t *Temporal
}

// locked makes a call, with the lock held, unless every call fails.
func locked[R any](t *Temporal, call func() (R, error)) (none R, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Err != nil {
		return none, t.Err
	}
	return call()
}

func (s service) GetWorkflowExecutionHistory(
	_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	return locked(s.t, func() (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
		found := s.t.execution(r.GetExecution())
		if found == nil {
			return nil, notFound()
		}
		first := found.events[:min(len(found.events), int(r.GetMaximumPageSize()))]
		return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: slices.Clone(first)}}, nil
	})
}

func (s service) GetWorkflowExecutionHistoryReverse(
	_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryReverseRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	return locked(s.t, func() (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
		found := s.t.execution(r.GetExecution())
		if found == nil {
			return nil, notFound()
		}
		last := slices.Clone(found.events)
		slices.Reverse(last)
		return &workflowservice.GetWorkflowExecutionHistoryReverseResponse{
			History: &historypb.History{Events: last[:min(len(last), int(r.GetMaximumPageSize()))]},
		}, nil
	})
}

// RequestCancelWorkflowExecution ignores the first run where a request names one beside a run, as
// a server does.
func (s service) RequestCancelWorkflowExecution(
	_ context.Context, r *workflowservice.RequestCancelWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.RequestCancelWorkflowExecutionResponse, error) {
	return locked(s.t, func() (*workflowservice.RequestCancelWorkflowExecutionResponse, error) {
		found := s.t.execution(r.GetWorkflowExecution())
		if found == nil || r.GetFirstExecutionRunId() != "" && found.info().GetFirstRunId() != r.GetFirstExecutionRunId() {
			return nil, notFound()
		}
		if found.open() {
			s.t.requestCancel(found, r.GetReason())
		}
		return &workflowservice.RequestCancelWorkflowExecutionResponse{}, nil
	})
}

func (s service) TerminateWorkflowExecution(
	_ context.Context, r *workflowservice.TerminateWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.TerminateWorkflowExecutionResponse, error) {
	return locked(s.t, func() (*workflowservice.TerminateWorkflowExecutionResponse, error) {
		found := s.t.execution(r.GetWorkflowExecution())
		if found == nil || !found.open() || r.GetFirstExecutionRunId() != "" && found.info().GetFirstRunId() != r.GetFirstExecutionRunId() {
			return nil, notFound()
		}
		found.terminate(r.GetReason())
		return &workflowservice.TerminateWorkflowExecutionResponse{}, nil
	})
}

// StartWorkflowExecution attaches the id of a request to the run that is there, and starts none.
func (s service) StartWorkflowExecution(
	_ context.Context, r *workflowservice.StartWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.StartWorkflowExecutionResponse, error) {
	return locked(s.t, func() (*workflowservice.StartWorkflowExecutionResponse, error) {
		found := s.t.latest(r.GetWorkflowId(), "")
		if found == nil || !found.open() {
			return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it has ended", "", "")
		}
		found.described.WorkflowExtendedInfo.RequestIdInfos[r.GetRequestId()] = &workflowpb.RequestIdInfo{}
		return &workflowservice.StartWorkflowExecutionResponse{RunId: found.runID()}, nil
	})
}

func (s service) DescribeTaskQueue(
	_ context.Context, r *workflowservice.DescribeTaskQueueRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeTaskQueueResponse, error) {
	return locked(s.t, func() (*workflowservice.DescribeTaskQueueResponse, error) {
		name := r.GetTaskQueue().GetName()
		described := &workflowservice.DescribeTaskQueueResponse{Stats: &taskqueuepb.TaskQueueStats{ApproximateBacklogCount: s.t.Backlogs[name]}}
		if !s.t.Unpolled[name] {
			described.Pollers = []*taskqueuepb.PollerInfo{{Identity: "worker", LastAccessTime: timestamppb.New(time.Now())}}
		}
		return described, nil
	})
}
