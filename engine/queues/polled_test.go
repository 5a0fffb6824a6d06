package queues

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

// Attempts wait on a queue for a pause or a limit, for their turn, or for a worker.
func TestABacklog(t *testing.T) {
	t.Parallel()
	queue, rate := workflows.DeliveryQueue("order"), 5.0
	for name, c := range map[string]struct {
		policy   *policy.Policy
		backlog  int64
		unpolled bool
		want     bool
	}{
		"nothing":      {&policy.Policy{}, 0, false, false},
		"no policy":    {nil, 0, false, false},
		"a limit":      {&policy.Policy{Limits: policy.Limits{CallbacksPerSecond: &rate}}, 0, false, true},
		"a pause":      {&policy.Policy{Paused: true}, 0, false, true},
		"their turn":   {&policy.Policy{}, 1, false, true},
		"for a worker": {nil, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Backlogs: map[string]int64{queue: c.backlog}, Unpolled: map[string]bool{queue: c.unpolled}}
			if c.policy != nil {
				c.policy.BusinessType = "order"
				on.Policy(t, *c.policy)
			}
			waits, err := queuesOn(on).Backlogged(t.Context(), "order", queue)
			require.NoError(t, err)
			require.Equal(t, c.want, waits)
			for _, call := range []string{"DescribeTaskQueue", "DescribeWorkflowExecution"} {
				on.Refuse(call, "", errors.New("down"))
				if _, err := queuesOn(on).Backlogged(t.Context(), "order", queue); err != nil {
					require.Equal(t, wire.Unavailable, wire.CodeOf(err))
				}
			}
		})
	}
}

// A gateway that asks for attempts at receivers is heard of.
func TestWhenAQueueWasPolled(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{
		Unpolled: map[string]bool{workflows.StreamQueue("invoice"): true},
		Pollers:  map[string]string{workflows.StreamQueue("coupon"): "gateway" + workflows.Drains},
	}
	queues := queuesOn(on)
	last, err := queues.Polled(t.Context(), "order")
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), last, time.Minute)
	never, err := queues.Polled(t.Context(), "invoice")
	require.NoError(t, err)
	require.True(t, never.IsZero())
	drained, err := queues.Polled(t.Context(), "coupon")
	require.NoError(t, err)
	require.True(t, drained.IsZero(), "a gateway that only drains the queue has no connected receiver")
	pollers, err := queues.Workers(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, pollers)
	require.WithinDuration(t, time.Now(), pollers[0].At, time.Minute)
	on.Err = errors.New("down")
	_, err = queues.Polled(t.Context(), "order")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	_, err = queues.Workers(t.Context())
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// The registry and the list of policies are told as they are.
func TestWhoseQueuesThereAre(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	queues := queuesOn(on)
	known, err := queues.Registered(t.Context())
	require.NoError(t, err)
	require.Empty(t, known)
	_, err = on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.RegistryID}, workflows.TypeRegistry)
	require.NoError(t, err)
	enginetest.Worker{On: on}.Say(t, workflows.RegistryID, workflows.MemoRegistry, workflows.Registered{"order": 1})
	known, err = queues.Registered(t.Context())
	require.NoError(t, err)
	require.Equal(t, workflows.Registered{"order": 1}, known)

	on.Policy(t, policy.Policy{BusinessType: "order"})
	on.Policy(t, policy.Policy{BusinessType: "invoice"})
	enginetest.Worker{On: on}.Close(workflows.PolicyID("invoice"), nil)
	inForce, deleted, err := queues.Policies(t.Context())
	require.NoError(t, err)
	require.Len(t, inForce, 1)
	require.Len(t, deleted, 1)
	require.Equal(t, "invoice", deleted[0].BusinessType)
	for _, call := range []string{"ListWorkflow", "DescribeWorkflowExecution", "SignalWithStartWorkflow"} {
		on.Refuse(call, "", errors.New("down"))
		_, _, err = queues.Policies(t.Context())
		registered := queues.RepairRegistry(t.Context(), []policy.Policy{{BusinessType: "new"}})
		if call == "ListWorkflow" {
			require.Equal(t, wire.Unavailable, wire.CodeOf(err))
			continue
		}
		require.Equal(t, wire.Unavailable, wire.CodeOf(registered), call)
	}
}
