package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/report"
)

func TestTargetsAreHeldAgainstTheSameRun(t *testing.T) {
	t.Parallel()
	own := steady("wakecall/sqlite", 0, 10*time.Microsecond)
	own.Outcome.Early = 1
	found := report.New([]report.Result{own, steady("river/postgres", 0, 2*time.Millisecond)})
	verdicts := map[report.Measure]report.Verdict{}
	for _, verdict := range found.Verdicts {
		require.Contains(t, []string{"", "river/postgres"}, verdict.Beside.Subject, "nothing is said of what was not measured")
		verdicts[verdict.Measure] = verdict
	}
	require.InDelta(t, 200, verdicts[report.LatenessP50].Reached, 1e-6)
	require.True(t, verdicts[report.LatenessP50].Met)
	require.InDelta(t, 200, verdicts[report.LatenessP99].Reached, 1e-6)
	require.False(t, verdicts[report.LatenessP99].Met, "300 are asked for")
	require.False(t, verdicts[report.Early].Met)
	require.True(t, verdicts[report.Lost].Met)

	var text strings.Builder
	require.NoError(t, report.Text(&text, found))
	require.Regexp(t, `(?m)^steady-50 lateness_p50_ms +wakecall/sqlite +beside river/postgres +200 times +200 +met$`, text.String())
	require.Regexp(t, `(?m)^steady-50 lateness_p99_ms .* missed$`, text.String())
	require.Regexp(t, `(?m)^steady-50 early +wakecall/sqlite +1 +0 +missed$`, text.String())
	require.NotContains(t, text.String(), "steady-50 lost", "what is as it must be is not listed")
}

func TestRateHasALeast(t *testing.T) {
	t.Parallel()
	table := report.Table{Scenario: "herd", Rows: []report.Row{
		{Subject: "a", Figures: map[report.Measure]report.Spread{report.DrainRate: {Median: 1500}, report.LatenessP99: {Median: 1500}}},
	}}
	own := report.Cell{Scenario: "herd", Subject: "a"}
	verdicts := report.Judge([]report.Table{table}, []report.Target{
		{Own: own, Measure: report.DrainRate, Bound: 1000}, {Own: own, Measure: report.DrainRate, Bound: 2000},
		{Own: own, Measure: report.LatenessP99, Bound: 1000}, {Own: own, Measure: report.LatenessP99, Bound: 2000},
	})
	met := []bool{}
	for _, verdict := range verdicts {
		met = append(met, verdict.Met)
	}
	require.Equal(t, []bool{true, false, false, true}, met)
}

func TestRateIsBetterWhenItIsLarger(t *testing.T) {
	t.Parallel()
	table := report.Table{Scenario: "adds", Rows: []report.Row{
		{Subject: "a", Figures: map[report.Measure]report.Spread{report.AddRate: {Median: 300}}},
		{Subject: "b", Figures: map[report.Measure]report.Spread{report.AddRate: {Median: 200}}},
	}}
	verdicts := report.Judge([]report.Table{table}, []report.Target{{
		Own: report.Cell{Scenario: "adds", Subject: "a"}, Beside: report.Cell{Scenario: "adds", Subject: "b"},
		Measure: report.AddRate, Bound: 2,
	}})
	require.Len(t, verdicts, 1)
	require.InDelta(t, 1.5, verdicts[0].Reached, 1e-9)
	require.False(t, verdicts[0].Met)
}
