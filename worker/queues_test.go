package worker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/workflows"
)

// listedPolicies is a Temporal with policies, one of them deleted, and records what it is given.
type listedPolicies struct {
	Observer
	inForce, deleted, shown, mended []policy.Policy
}

func (l *listedPolicies) Registered(context.Context) (workflows.Registered, error) { return nil, nil }

func (l *listedPolicies) Needed(context.Context, string) (bool, error) { return false, nil }

func (l *listedPolicies) Outlived(context.Context, string) (bool, error) { return false, nil }

func (l *listedPolicies) Policies(context.Context) (inForce, deleted []policy.Policy, err error) {
	return l.inForce, l.deleted, nil
}

func (l *listedPolicies) RepairRegistry(_ context.Context, listed []policy.Policy) error {
	l.mended = listed
	return nil
}

func (l *listedPolicies) PoliciesListed(policies []policy.Policy) { l.shown = policies }

func (l *listedPolicies) StreamsWait(map[string]int) {}

func (l *listedPolicies) Waiting(context.Context, string) (int, time.Duration, error) {
	return 0, 0, nil
}

// The queue of a deleted policy is served while it may hold deliveries, but its type is no
// longer a label of metrics.
func TestDeletedPoliciesAreServedAndNotShown(t *testing.T) {
	t.Parallel()
	l := &listedPolicies{inForce: []policy.Policy{{BusinessType: "order", Version: 1}}, deleted: []policy.Policy{{BusinessType: "invoice", Version: 2}}}
	q := newQueueWorkers(Options{Queues: l, Observer: l})
	for _, policy := range append(l.inForce, l.deleted...) { // as if they were polled
		q.types[policy.BusinessType] = &typeWorker{slots: newTypeSlots(-1)}
	}
	require.NoError(t, q.readAll(t.Context()))
	require.Equal(t, l.inForce, l.shown)
	require.Equal(t, append(l.inForce, l.deleted...), l.mended, "its queue is still registered")
	share := l.deleted[0].Limits.QueueShare()
	require.Equal(t, share, q.types["invoice"].slots.size, "its queue is served as it last stood")
}
