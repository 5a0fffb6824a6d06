package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// An entry counts once, however often its sender repeats it, and also in the run that
// follows. An old type, and a sender that is gone, are forgotten there.
func TestLedgerRecordsAnEntryOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 30, 0, 0, time.UTC)
	entry := func(sender string, number int, at time.Time, businessType string) workflows.LedgerEntry {
		return workflows.LedgerEntry{
			LedgerStamp: workflows.LedgerStamp{Number: number, At: wire.At(at)}, Sender: sender,
			Counts: map[string]slo.Counts{businessType: {Rung: 1, Lateness: slo.Histogram{2: 1}}},
		}
	}
	play := func(state workflows.LedgerState, entries ...workflows.LedgerEntry) (workflows.LedgerState, workflows.LedgerAnswer) {
		env := newEnvironment()
		env.SetStartTime(now)
		var answer workflows.LedgerAnswer
		env.RegisterDelayedCallback(func() {
			for _, e := range entries {
				env.SignalWorkflow(workflows.SignalLedger, e)
			}
		}, 0)
		env.RegisterDelayedCallback(func() {
			value, err := env.QueryWorkflow(workflows.QueryLedger, []string{"order", "unknown"})
			require.NoError(t, err)
			require.NoError(t, value.Get(&answer))
			var all workflows.LedgerAnswer
			value, err = env.QueryWorkflow(workflows.QueryLedger, []string(nil))
			require.NoError(t, err)
			require.NoError(t, value.Get(&all))
			require.Equal(t, answer.Series["order"], all.Series["order"], "without a name all types are answered")
			value, err = env.QueryWorkflow(workflows.QueryLedger, []string{"unknown"})
			require.NoError(t, err)
			var none workflows.LedgerAnswer
			require.NoError(t, value.Get(&none))
			require.Empty(t, none.Series)
			env.SetContinueAsNewSuggested(true)
			env.SignalWorkflow(workflows.SignalLedger, entry("last", 1, now, "coupon"))
		}, time.Second)
		env.ExecuteWorkflow(workflows.TypeLedger, state)
		var again *workflow.ContinueAsNewError
		require.ErrorAs(t, env.GetWorkflowError(), &again)
		var next workflows.LedgerState
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
		return next, answer
	}
	state, answer := play(workflows.LedgerState{},
		entry("a", 1, now, "order"), entry("a", 1, now, "order"), entry("b", 1, now, "order"), entry("a", 2, now.Add(-time.Hour), "order"),
		entry("gone", 7, now.Add(-tuning.LedgerSenderLife), "order"), entry("gone", 8, now.Add(-slo.DaysFor-48*time.Hour), "old"))
	require.Len(t, answer.Series, 1)
	require.Len(t, answer.Series["order"], 3)
	require.EqualValues(t, 2, answer.Series["order"][2].Rung)
	require.Equal(t, wire.At(now), answer.RecordedAt)
	require.NotContains(t, state.Series, "old")
	require.NotContains(t, state.Senders, "gone")

	state, answer = play(state, entry("a", 2, now, "order"), entry("b", 2, now, "order"))
	require.EqualValues(t, 3, answer.Series["order"][2].Rung, "number 2 of a was recorded in the run before")
	require.EqualValues(t, 3, answer.Series["order"][2].Lateness[2])
	require.EqualValues(t, 1, state.Series["coupon"][0].Rung, "the same entry again")
}

// The business types are spread over all ledgers.
func TestLedgersShareTheTypes(t *testing.T) {
	t.Parallel()
	used := map[int]bool{}
	for _, kind := range []string{"order", "coupon", "refund"} {
		for n := range 200 {
			used[workflows.LedgerOf(kind+string(rune('a'+n)))] = true
		}
	}
	require.Len(t, used, tuning.Ledgers)
	require.Equal(t, 7, workflows.LedgerOf("order"), "where the counts are stored")
}
