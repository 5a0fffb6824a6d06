package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// queues is a Temporal with a backlog on some queues, and a count of delivering timers.
type queues struct {
	*fake
	backlogs   map[string]int64
	delivering int64
	rates      []string
}

func (q *queues) WorkflowService() workflowservice.WorkflowServiceClient { return onlyQueues{q: q} }

// onlyQueues answers what is asked of queues.
type onlyQueues struct {
	workflowservice.WorkflowServiceClient
	q *queues
}

func (o onlyQueues) DescribeTaskQueue(_ context.Context, r *workflowservice.DescribeTaskQueueRequest, _ ...grpc.CallOption) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{
		Pollers: []*taskqueuepb.PollerInfo{{}},
		Stats:   &taskqueuepb.TaskQueueStats{ApproximateBacklogCount: o.q.backlogs[r.GetTaskQueue().GetName()], ApproximateBacklogAge: durationpb.New(time.Minute)},
	}, o.q.err
}

func (o onlyQueues) UpdateTaskQueueConfig(_ context.Context, r *workflowservice.UpdateTaskQueueConfigRequest, _ ...grpc.CallOption) (*workflowservice.UpdateTaskQueueConfigResponse, error) {
	o.q.rates = append(o.q.rates, r.GetTaskQueue())
	return &workflowservice.UpdateTaskQueueConfigResponse{}, o.q.err
}

func (q *queues) CountWorkflow(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return &workflowservice.CountWorkflowExecutionsResponse{Count: q.delivering}, q.err
}

// Attempts that wait for a receiver to connect are counted where they wait, and no more of
// them than there are timers.
func TestStreamsThatWait(t *testing.T) {
	t.Parallel()
	stream, http := workflows.StreamQueue("order"), workflows.DeliveryQueue("order")
	for name, c := range map[string]struct {
		backlogs  map[string]int64
		delivers  int64
		waits     int
		whileTime time.Duration
	}{
		"nothing waits":       {map[string]int64{http: 5}, 3, 0, 0},
		"some wait":           {map[string]int64{stream: 2}, 3, 2, time.Minute},
		"most were cancelled": {map[string]int64{stream: 9}, 3, 3, time.Minute},
		"all were":            {map[string]int64{stream: 9}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := New(Config{Client: &queues{fake: &fake{}, backlogs: c.backlogs, delivering: c.delivers}})
			waits, longest, err := e.Queues.Waiting(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, []any{c.waits, c.whileTime}, []any{waits, longest})
		})
	}
	silent := New(Config{Client: &queues{fake: &fake{err: context.DeadlineExceeded}}})
	_, _, err := silent.Queues.Waiting(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A limit and a pause hold wherever the attempts of a type are made.
func TestBothQueuesOfATypeHaveItsRate(t *testing.T) {
	t.Parallel()
	q := &queues{fake: &fake{}}
	require.NoError(t, New(Config{Client: q}).Queues.SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
	require.Equal(t, []string{workflows.DeliveryQueue("order"), workflows.StreamQueue("order")}, q.rates)
	q.err = context.DeadlineExceeded
	require.Error(t, New(Config{Client: q}).Queues.SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
}

// A queue is needed by a policy in force and by what lies on it, whatever visibility says.
func TestNeededQueues(t *testing.T) {
	t.Parallel()
	entity := func(status enumspb.WorkflowExecutionStatus) map[string]*workflowservice.DescribeWorkflowExecutionResponse {
		memo, err := payloads.ToPayload(workflows.PolicyRecord{ChangedAt: wire.At(time.Now())})
		require.NoError(t, err)
		return map[string]*workflowservice.DescribeWorkflowExecutionResponse{workflows.PolicyID("order"): {
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: status, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: memo}}},
		}}
	}
	for name, c := range map[string]struct {
		runs     map[string]*workflowservice.DescribeWorkflowExecutionResponse
		backlogs map[string]int64
		needed   bool
	}{
		"no policy":        {},
		"a deleted policy": {runs: entity(statusCompleted)},
		"a policy":         {runs: entity(statusRunning), needed: true},
		"a killed policy":  {runs: entity(statusTerminated), needed: true},
		"attempts":         {backlogs: map[string]int64{workflows.DeliveryQueue("order"): 1}, needed: true},
		"rings":            {runs: entity(statusCompleted), backlogs: map[string]int64{workflows.StreamQueue("order"): 1}, needed: true},
		"another type's":   {backlogs: map[string]int64{workflows.DeliveryQueue("orders"): 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &queues{fake: &fake{runs: c.runs}, backlogs: c.backlogs}
			needed, err := New(Config{Client: startable{q}}).Queues.Needed(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, c.needed, needed)
		})
	}
	_, err := New(Config{Client: &queues{fake: &fake{err: context.DeadlineExceeded}}}).Queues.Needed(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// startable lets the entity of a killed policy be started again.
type startable struct{ *queues }

//nolint:revive // the client's own arguments
func (startable) SignalWithStartWorkflow(_ context.Context, _, _ string, _ any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	return wokenRun{}, nil
}

func TestOutlivedPolicies(t *testing.T) {
	t.Parallel()
	for _, open := range []int64{0, 1} {
		outlived, err := New(Config{Client: &queues{fake: &fake{}, delivering: open}}).Queues.Outlived(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, open > 0, outlived)
	}
	_, err := New(Config{Client: &queues{fake: &fake{err: context.DeadlineExceeded}}}).Queues.Outlived(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
