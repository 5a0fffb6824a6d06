package enginetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// WorkflowService implements [client.Client].
func (t *Temporal) WorkflowService() workflowservice.WorkflowServiceClient { return service{t: t} }

// service has the calls that Temporal's client does not offer.
type service struct {
	workflowservice.WorkflowServiceClient
	t *Temporal
}

// DeleteWorkflowExecution deletes the latest run of a workflow, or the named one, open or not. A
// server deletes it a moment later.
func (s service) DeleteWorkflowExecution(
	_ context.Context, r *workflowservice.DeleteWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.DeleteWorkflowExecutionResponse, error) {
	call := Call{Name: "DeleteWorkflowExecution", Of: r.GetWorkflowExecution().GetWorkflowId()}
	return called(s.t, call, func() (*workflowservice.DeleteWorkflowExecutionResponse, error) {
		found := s.t.execution(r.GetWorkflowExecution())
		if found == nil {
			return nil, notFound()
		}
		if found.open() {
			found.terminate("deleted")
		}
		for _, one := range s.t.runs {
			one.past = one.past || one.id() == found.id()
		}
		s.t.runs = slices.DeleteFunc(s.t.runs, func(one *run) bool { return one == found })
		return &workflowservice.DeleteWorkflowExecutionResponse{}, nil
	})
}

func (s service) DescribeTaskQueue(
	_ context.Context, r *workflowservice.DescribeTaskQueueRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeTaskQueueResponse, error) {
	name := r.GetTaskQueue().GetName()
	return called(s.t, Call{Name: "DescribeTaskQueue", Of: name}, func() (*workflowservice.DescribeTaskQueueResponse, error) {
		described := &workflowservice.DescribeTaskQueueResponse{
			Stats: &taskqueuepb.TaskQueueStats{ApproximateBacklogCount: s.t.Backlogs[name]},
			TaskQueueStatus: &taskqueuepb.TaskQueueStatus{ //nolint:staticcheck // what replaces it is up to five seconds old
				BacklogCountHint: int64(len(s.t.waiting(name))),
			},
		}
		if s.t.Backlogs[name] > 0 {
			described.Stats.ApproximateBacklogAge = durationpb.New(time.Minute)
		}
		if !s.t.Unpolled[name] {
			described.Pollers = []*taskqueuepb.PollerInfo{{
				Identity: cmp.Or(s.t.Pollers[name], "worker"), LastAccessTime: timestamppb.New(time.Now()),
			}}
		}
		return described, nil
	})
}

func (s service) UpdateTaskQueueConfig(
	_ context.Context, r *workflowservice.UpdateTaskQueueConfigRequest, _ ...grpc.CallOption,
) (*workflowservice.UpdateTaskQueueConfigResponse, error) {
	return called(s.t, Call{Name: "UpdateTaskQueueConfig", Of: r.GetTaskQueue()},
		func() (*workflowservice.UpdateTaskQueueConfigResponse, error) {
			return &workflowservice.UpdateTaskQueueConfigResponse{}, nil
		})
}

// RecordActivityHeartbeat implements [client.Client].
func (t *Temporal) RecordActivityHeartbeat(_ context.Context, token []byte, _ ...any) error {
	_, err := called(t, Call{Name: "RecordActivityHeartbeat", Of: string(token)}, func() (any, error) { return nil, nil })
	return err
}
