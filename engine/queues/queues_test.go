package queues

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/workflows"
)

func queuesOn(client client.Client) *Queues {
	k := kernel.New(client, "default", "")
	return New(k, policies.New(k, policies.Config{}))
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
			queues := queuesOn(&enginetest.Queues{Fake: &enginetest.Fake{}, Backlogs: c.backlogs, Delivering: c.delivers})
			waits, longest, err := queues.Waiting(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, []any{c.waits, c.whileTime}, []any{waits, longest})
		})
	}
	silent := queuesOn(&enginetest.Queues{Fake: &enginetest.Fake{Err: context.DeadlineExceeded}})
	_, _, err := silent.Waiting(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A limit and a pause hold wherever the attempts of a type are made.
func TestBothQueuesOfATypeHaveItsRate(t *testing.T) {
	t.Parallel()
	q := &enginetest.Queues{Fake: &enginetest.Fake{}}
	require.NoError(t, queuesOn(q).SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
	require.Equal(t, []string{workflows.DeliveryQueue("order"), workflows.StreamQueue("order")}, q.Rates)
	q.Err = context.DeadlineExceeded
	require.Error(t, queuesOn(q).SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
}

// A queue is needed by a policy in force and by what lies on it, whatever visibility says.
func TestNeededQueues(t *testing.T) {
	t.Parallel()
	entity := func(status enumspb.WorkflowExecutionStatus) map[string]*workflowservice.DescribeWorkflowExecutionResponse {
		memo, err := kernel.Payloads.ToPayload(workflows.PolicyRecord{ChangedAt: wire.At(time.Now())})
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
		"a deleted policy": {runs: entity(visibility.Completed)},
		"a policy":         {runs: entity(visibility.Running), needed: true},
		"a killed policy":  {runs: entity(visibility.Terminated), needed: true},
		"attempts":         {backlogs: map[string]int64{workflows.DeliveryQueue("order"): 1}, needed: true},
		"rings":            {runs: entity(visibility.Completed), backlogs: map[string]int64{workflows.StreamQueue("order"): 1}, needed: true},
		"another type's":   {backlogs: map[string]int64{workflows.DeliveryQueue("orders"): 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &enginetest.Queues{Fake: &enginetest.Fake{Runs: c.runs}, Backlogs: c.backlogs}
			needed, err := queuesOn(enginetest.Startable{Queues: q}).Needed(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, c.needed, needed)
		})
	}
	_, err := queuesOn(&enginetest.Queues{Fake: &enginetest.Fake{Err: context.DeadlineExceeded}}).Needed(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

func TestOutlivedPolicies(t *testing.T) {
	t.Parallel()
	for _, open := range []int64{0, 1} {
		outlived, err := queuesOn(&enginetest.Queues{Fake: &enginetest.Fake{}, Delivering: open}).Outlived(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, open > 0, outlived)
	}
	_, err := queuesOn(&enginetest.Queues{Fake: &enginetest.Fake{Err: context.DeadlineExceeded}}).Outlived(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
