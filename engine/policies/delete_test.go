package policies

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

const ttl = time.Second

// shop has the policy of type order, version 1, and an open timer of it where open says so.
func shop(t *testing.T, open bool) (*Policies, *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	if open {
		book(t, on)
	}
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	return New(k, Config{TTL: ttl}), on
}

func book(t *testing.T, on *enginetest.Temporal) {
	t.Helper()
	_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "order/1", TypedSearchAttributes: temporal.NewSearchAttributes(workflows.AttrBusinessType.ValueSet("order")),
	}, workflows.TypeTimer)
	require.NoError(t, err)
}

// A policy without open timers is deleted, once every booking under it must have shown.
func TestADeletionTakesUntilEveryBookingIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, on := shop(t, false)
		began := time.Now()
		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order"}))
		require.GreaterOrEqual(t, time.Since(began), ttl+tuning.PolicyReadSlack+tuning.VisibilityLag)
		_, err := p.Policy(t.Context(), "order")
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		require.Equal(t, wire.NotFound, wire.CodeOf(p.Delete(t.Context(), Deletion{BusinessType: "order"})))
		_ = on
	})
}

// Open timers are in the way, also those that show while the policy is closed; then it takes
// bookings again.
func TestOpenTimersKeepTheirPolicy(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, on := shop(t, !late)
			if late {
				time.AfterFunc(ttl, func() { book(t, on) })
			}
			err := p.Delete(t.Context(), Deletion{BusinessType: "order"})
			require.Equal(t, wire.PolicyInUse, wire.CodeOf(err))
			stored, err := p.Stored(t.Context(), "order")
			require.NoError(t, err)
			require.Equal(t, 1, stored.Version)
			require.NoError(t, RefuseClosed(stored), "it takes bookings again")
		})
	}
}

// A booking is refused while its policy is closed.
func TestAClosedPolicyTakesNoBookings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := shop(t, false)
		done := make(chan error)
		go func() { done <- p.Delete(context.WithoutCancel(t.Context()), Deletion{BusinessType: "order"}) }()
		<-time.After(ttl / 2)
		_, err := p.ForOrder(t.Context(), "order", nil)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.NoError(t, <-done)
	})
}

// Timers that are to be cancelled are, by a bulk job, and the policy is sealed meanwhile.
func TestADeletionThatCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := shop(t, true)
		var ordered []job.Bulk
		p.OrderBulkBy(func(ctx context.Context, order job.Bulk) error {
			ordered = append(ordered, order)
			_, err := p.Put(ctx, Change{Policy: policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.HTTP("https://new.test/")}}})
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "nobody else changes it now")
			return nil
		})
		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order", OnOpenTimers: OpenTimersCancel}))
		require.Len(t, ordered, 1)
		require.Equal(t, job.Cancel, ordered[0].Operation)
		require.Equal(t, "order", ordered[0].Filter.BusinessType)
	})
}

func TestADeletionThatKeepsTheTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := shop(t, true)
		began := time.Now()
		require.NoError(t, p.Delete(t.Context(), Deletion{BusinessType: "order", OnOpenTimers: OpenTimersKeep}))
		require.Zero(t, time.Since(began), "nothing is counted")
	})
}

func TestADeletionOfAnotherVersion(t *testing.T) {
	t.Parallel()
	p, _ := shop(t, false)
	err := p.Delete(t.Context(), Deletion{BusinessType: "order", IfVersion: 2})
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))
}

// Who puts a policy says which version it is on, or wins over it.
func TestAPutOfAPolicy(t *testing.T) {
	t.Parallel()
	p, _ := shop(t, false)
	next := Change{Policy: policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.HTTP("https://new.test/")}}}
	put, err := p.Put(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, 2, put.Policy.Version)
	require.NotEmpty(t, put.Changes)
	again, err := p.Put(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, 2, again.Policy.Version, "it was so already")
	require.Empty(t, again.Changes)

	next.IfVersion = 1
	_, err = p.Put(t.Context(), next)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))
	known, err := p.Policy(t.Context(), "order")
	require.NoError(t, err)
	require.Equal(t, "https://new.test/", known.Callback.URL)
}

// The URL is not taken away while timers may need it.
func TestTheURLOfAPolicyIsNeeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := shop(t, true)
		_, err := p.Put(t.Context(), Change{Policy: policy.Policy{BusinessType: "order"}})
		require.Equal(t, wire.PolicyInUse, wire.CodeOf(err))
		_, err = p.Put(t.Context(), Change{Policy: policy.Policy{BusinessType: "order"}, DryRun: true})
		require.Equal(t, wire.PolicyInUse, wire.CodeOf(err))
	})
}
