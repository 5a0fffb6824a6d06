package workflows_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
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

// A ledger of very many types goes on with a state that Temporal takes. It joins their hours and days before
// it loses a count, and then drops the types that it has not heard of for longest.
func TestLedgersOfManyTypes(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2027, 3, 31, 12, 30, 0, 0, time.UTC))
	hour := slo.Counts{
		Booked: 1000, Bytes: 1_000_000, Rung: 1000, OnTime: 900, JudgedBy: slo.Promise(time.Second), Delivered: 1000, Attempts: 1100, WorstMS: 9,
		Lateness: slo.Histogram{0: 100, 1: 100, 2: 100, 3: 100, 4: 100, 5: 100, 6: 100, 7: 100, 8: 100, 9: 100},
	}
	// A series of so many hours, as the run before left it.
	left := func(hours int) (s slo.Series) {
		for ago := range hours {
			s = s.Record(now.Add(-time.Duration(ago)*time.Hour), hour)
		}
		return s.Compact(now, slo.Resolutions[0])
	}
	for name, c := range map[string]struct {
		types, hours int
		lasts        bool // whether each type is kept
	}{
		"few":      {20, 30 * 24, true},
		"many":     {60, 30 * 24, true},
		"more":     {150, 10 * 24, true},
		"too many": {4000, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full, old := left(c.hours), slo.Series{}.Record(now.Add(-20*24*time.Hour), hour)
			state, series := workflows.LedgerState{Series: map[string]slo.Series{"old": old}}, full.Report("", slo.Objective{}, now, slo.MaxWindow)
			for n := range c.types {
				state.Series["type-"+strconv.Itoa(n)] = full
			}
			env := newEnvironment()
			env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: tuning.DeadlockTimeout})
			env.SetStartTime(now.Time())
			env.RegisterDelayedCallback(func() {
				env.SetContinueAsNewSuggested(true)
				env.SignalWorkflow(workflows.SignalLedger, workflows.LedgerEntry{LedgerStamp: workflows.LedgerStamp{Number: 1, At: now}, Sender: "a"})
			}, 0)
			env.ExecuteWorkflow(workflows.TypeLedger, state)
			var again *workflow.ContinueAsNewError
			require.ErrorAs(t, env.GetWorkflowError(), &again)
			require.Less(t, again.Input.Size(), 3<<19, "Temporal refuses 2 MB")
			var next workflows.LedgerState
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
			require.Equal(t, c.lasts, len(next.Series) == c.types+1)
			require.Equal(t, c.lasts, next.Series["old"] != nil)
			require.Greater(t, len(next.Series), min(c.types, 1000), "there is room for so many")
			require.Equal(t, name == "few", slices.EqualFunc(full, next.Series["type-1"], func(a, b slo.Interval) bool { return a.From == b.From }))
			for businessType, kept := range next.Series {
				if businessType != "old" {
					require.Equal(t, series.Rung, kept.Report("", slo.Objective{}, now, slo.MaxWindow).Rung, "no count is lost")
				}
			}
		})
	}
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
