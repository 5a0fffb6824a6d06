package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// again is the second round of a dispatch of 200 items of which 100 failed.
func again() workflows.DispatchInput {
	in := ordered(50, 100)
	in.Memo.Total = &dispatch.Counts{Found: 200, Done: 100, Failed: 100}
	in.Memo.Failed = in.Parts
	in.Memo = in.Memo.RetryFailed(in.Memo.CreatedAt)
	return in
}

// However a second round ends, its items were taken or are listed as failed, so that a third
// round is possible.
func TestASecondRoundKeepsWhatItDoesNotComeTo(t *testing.T) {
	t.Parallel()
	some := dispatch.State{Base: 30, Counts: dispatch.Counts{Found: 30, Done: 18}}
	until := func(end dispatch.ShardRunEnd) func(m *mass) {
		return func(m *mass) {
			m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
				plan := shard.Plan
				if end == dispatch.RunPaused {
					plan.Paused, plan.Changes = true, plan.Changes+1
				}
				return dispatch.ShardRunResult{End: end, State: some, Plan: plan, WakeAt: wire.At(m.Now().Add(24 * time.Hour))}, nil
			}
		}
	}
	cancel := func(m *mass) { m.RegisterDelayedCallback(m.CancelWorkflow, time.Hour) }
	latest := func(in *workflows.DispatchInput) {
		at := wire.At(newEnvironment().Now().Add(time.Hour))
		in.Memo.Order.LatestAt = &at
	}
	for name, c := range map[string]struct {
		order   func(in *workflows.DispatchInput)
		prepare []func(m *mass)
		status  dispatch.Status
		total   dispatch.Counts
		begun   bool
	}{
		"cancelled while it waits for its ladder": {prepare: []func(*mass){until(dispatch.RunWaits), cancel}, status: dispatch.Cancelled,
			total: dispatch.Counts{Found: 200, Done: 118, Failed: 82}, begun: true},
		"its latest time comes": {order: latest, prepare: []func(*mass){until(dispatch.RunWaits)}, status: dispatch.Expired,
			total: dispatch.Counts{Found: 200, Done: 118, Failed: 82}, begun: true},
		"cancelled before it begins": {order: func(in *workflows.DispatchInput) { in.Memo.Plan.Paused = true }, prepare: []func(*mass){cancel},
			status: dispatch.Cancelled, total: dispatch.Counts{Found: 200, Done: 100, Failed: 100}},
		"its latest time comes before it begins": {order: func(in *workflows.DispatchInput) { latest(in); in.Memo.Plan.Paused = true },
			status: dispatch.Expired, total: dispatch.Counts{Found: 200, Done: 100, Failed: 100}},
		"cancelled during a pause": {prepare: []func(*mass){until(dispatch.RunPaused), cancel}, status: dispatch.Cancelled, total: dispatch.Counts{Found: 200, Done: 118, Failed: 82}, begun: true},
		"a page is gone": {prepare: []func(*mass){func(m *mass) {
			m.executor = func(_ context.Context, shard dispatch.Shard, _ int) (dispatch.ShardRunResult, error) {
				state := some
				state.Problem = &delivery.Failure{Message: "There is no such page."}
				return dispatch.ShardRunResult{End: dispatch.RunDone, State: state, Plan: shard.Plan}, nil
			}
		}}, status: dispatch.Failed, total: dispatch.Counts{Found: 200, Done: 118, Failed: 82}, begun: true},
		"a shard breaks": {prepare: []func(*mass){func(m *mass) {
			m.executor = func(context.Context, dispatch.Shard, int) (dispatch.ShardRunResult, error) {
				return dispatch.ShardRunResult{}, temporal.NewNonRetryableApplicationError("broken", "", nil)
			}
		}}, status: dispatch.Failed, total: dispatch.Counts{Found: 200, Done: 100, Failed: 100}, begun: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, in := newMass(t), again()
			if c.order != nil {
				c.order(&in)
			}
			for _, prepare := range c.prepare {
				prepare(m)
			}
			m.ExecuteWorkflow(workflows.TypeDispatch, in)
			last := m.last()
			require.Equal(t, c.status, last.Status)
			total := *last.Total
			total.Callbacks = 0
			require.Equal(t, c.total, total)
			require.NotEmpty(t, last.Failed, "a third round is possible")
			require.Equal(t, c.begun, len(m.back) > 0)
			for _, sweep := range m.swept {
				require.Equal(t, last.Failed, sweep.Close)
				for _, deleted := range sweep.Delete {
					require.NotContains(t, last.Failed, deleted, "what is listed stays")
				}
			}
			require.Equal(t, c.total.Failed, last.RetryFailed(0).Retried)
		})
	}
}

// While items are tried again their pages are named: the round may be terminated.
func TestASecondRoundNamesItsItems(t *testing.T) {
	t.Parallel()
	m, in := newMass(t), again()
	m.ExecuteWorkflow(workflows.TypeDispatch, in)
	require.Equal(t, in.Parts, m.memos[0].Failed)
	require.Equal(t, dispatch.Counts{Found: 200, Done: 100, Failed: 100}, m.memos[0].Untried())
	require.Empty(t, m.last().Failed, "all of them were taken")
	require.Empty(t, m.back)
}
