package queues

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/workflows"
)

func queuesOn(client client.Client) *Queues {
	k := kernel.New(client, "default", "")
	return New(k, policies.New(k, policies.Config{}))
}

// delivering is a Temporal on which some timers of type order are being delivered.
func delivering(t *testing.T, timers int, backlogs map[string]int64) *enginetest.Temporal {
	t.Helper()
	on := &enginetest.Temporal{Backlogs: backlogs}
	for i := range timers {
		_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: "order/" + strconv.Itoa(i), TypedSearchAttributes: temporal.NewSearchAttributes(
				workflows.AttrBusinessType.ValueSet("order"), workflows.AttrState.ValueSet(string(timer.Delivering)),
			),
		}, workflows.TypeTimer)
		require.NoError(t, err)
	}
	return on
}

// Attempts that wait for a receiver to connect are counted where they wait, and no more of
// them than there are timers.
func TestStreamsThatWait(t *testing.T) {
	t.Parallel()
	stream, http := workflows.StreamQueue("order"), workflows.DeliveryQueue("order")
	for name, c := range map[string]struct {
		backlogs  map[string]int64
		delivers  int
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
			queues := queuesOn(delivering(t, c.delivers, c.backlogs))
			waits, longest, err := queues.Waiting(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, []any{c.waits, c.whileTime}, []any{waits, longest})
		})
	}
	silent := queuesOn(&enginetest.Temporal{Err: context.DeadlineExceeded})
	_, _, err := silent.Waiting(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A limit and a pause hold wherever the attempts of a type are made.
func TestBothQueuesOfATypeHaveItsRate(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	require.NoError(t, queuesOn(on).SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
	require.Equal(t, []string{workflows.DeliveryQueue("order"), workflows.StreamQueue("order")}, on.Called("UpdateTaskQueueConfig"))
	on.Err = context.DeadlineExceeded
	require.Error(t, queuesOn(on).SetQueueRate(t.Context(), policy.QueueRate{BusinessType: "order"}))
}

// A queue is needed by a policy in force and by what lies on it, whatever visibility says.
func TestNeededQueues(t *testing.T) {
	t.Parallel()
	deleted := func(on *enginetest.Temporal) { enginetest.Worker{On: on}.Close(workflows.PolicyID("order"), nil) }
	killed := func(on *enginetest.Temporal) {
		require.NoError(t, on.TerminateWorkflow(context.Background(), workflows.PolicyID("order"), "", ""))
	}
	inForce := func(*enginetest.Temporal) {}
	for name, c := range map[string]struct {
		policy   func(*enginetest.Temporal)
		backlogs map[string]int64
		needed   bool
	}{
		"no policy":        {},
		"a deleted policy": {policy: deleted},
		"a policy":         {policy: inForce, needed: true},
		"a killed policy":  {policy: killed, needed: true},
		"attempts":         {backlogs: map[string]int64{workflows.DeliveryQueue("order"): 1}, needed: true},
		"rings":            {policy: deleted, backlogs: map[string]int64{workflows.StreamQueue("order"): 1}, needed: true},
		"another type's":   {backlogs: map[string]int64{workflows.DeliveryQueue("orders"): 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Backlogs: c.backlogs}
			if c.policy != nil {
				on.Policy(t, policy.Policy{BusinessType: "order"})
				c.policy(on)
			}
			needed, err := queuesOn(on).Needed(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, c.needed, needed)
		})
	}
	_, err := queuesOn(&enginetest.Temporal{Err: context.DeadlineExceeded}).Needed(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

func TestOutlivedPolicies(t *testing.T) {
	t.Parallel()
	for _, open := range []int{0, 1} {
		outlived, err := queuesOn(delivering(t, open, nil)).Outlived(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, open > 0, outlived)
	}
	_, err := queuesOn(&enginetest.Temporal{Err: context.DeadlineExceeded}).Outlived(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
