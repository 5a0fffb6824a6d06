package enginetest

import (
	"context"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Queues is a Temporal with a backlog on some queues, and a count of delivering timers.
type Queues struct {
	*Fake
	Backlogs   map[string]int64
	Delivering int64
	Rates      []string
}

// WorkflowService implements [client.Client].
func (q *Queues) WorkflowService() workflowservice.WorkflowServiceClient { return onlyQueues{q: q} }

// onlyQueues answers what is asked of queues.
type onlyQueues struct {
	workflowservice.WorkflowServiceClient
	q *Queues
}

func (o onlyQueues) DescribeTaskQueue(_ context.Context, r *workflowservice.DescribeTaskQueueRequest, _ ...grpc.CallOption) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{
		Pollers: []*taskqueuepb.PollerInfo{{}},
		Stats:   &taskqueuepb.TaskQueueStats{ApproximateBacklogCount: o.q.Backlogs[r.GetTaskQueue().GetName()], ApproximateBacklogAge: durationpb.New(time.Minute)},
	}, o.q.Err
}

func (o onlyQueues) UpdateTaskQueueConfig(_ context.Context, r *workflowservice.UpdateTaskQueueConfigRequest, _ ...grpc.CallOption) (*workflowservice.UpdateTaskQueueConfigResponse, error) {
	o.q.Rates = append(o.q.Rates, r.GetTaskQueue())
	return &workflowservice.UpdateTaskQueueConfigResponse{}, o.q.Err
}

// CountWorkflow implements [client.Client].
func (q *Queues) CountWorkflow(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return &workflowservice.CountWorkflowExecutionsResponse{Count: q.Delivering}, q.Err
}

// Startable lets the entity of a killed policy be started again.
type Startable struct{ *Queues }

//nolint:revive // the client's own arguments
func (Startable) SignalWithStartWorkflow(_ context.Context, _, _ string, _ any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	return StartedRun{}, nil
}
