package run_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/remote"
	"github.com/wakecall/wakecall/bench/report"
	"github.com/wakecall/wakecall/bench/run"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/systems"
)

// TestMain lets this program be the child, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == remote.Command {
		if err := remote.Serve(context.Background(), remote.Standard(), systems.New); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The whole way on a real Temporal, with the smallest sizes.
func TestVisit(t *testing.T) {
	t.Parallel()
	results, err := run.All(t.Context(), run.Options{
		Subjects: []string{"temporal-local/sqlite"}, Rounds: 1,
		Plans: []scenario.Plan{
			{Name: "few", Kind: scenario.Ring, Timers: 100}, // too many for the room that a store had
			{Name: "recurring", Kind: scenario.Recurring, Timers: 1, For: 2 * time.Second, Every: time.Second},
			{Name: "adds", Kind: scenario.Adds, For: 100 * time.Millisecond},
			{Name: "mixed", Kind: scenario.Mixed},
			{Name: "pending", Kind: scenario.Pending, Timers: 200, Rate: 10},
		},
		Grace: time.Minute, Watch: 100 * time.Millisecond, Progress: t.Output(),
	})
	require.NoError(t, err)
	require.Len(t, results, 5)
	for _, result := range results[:2] {
		out := result.Outcome
		require.Positive(t, out.Expected, result.Plan.Name)
		require.Len(t, out.Lateness, out.Expected)
		require.Zero(t, out.Lost+out.Early+out.Duplicates+out.Wrong, "%v", result)
	}
	require.InDelta(t, 6, results[0].Figures()[report.Events], 0, "the cost of a start delay and a local activity")
	require.Greater(t, results[1].Figures()[report.Events], 6.0, "a schedule costs more than the workflows that it starts")
	require.Positive(t, results[0].Figures()[report.CPUPerTimer])
	require.Positive(t, results[2].Figures()[report.AddRate])
	require.NotEmpty(t, results[3].Outcome.Skipped)
	stored := results[4]
	require.Positive(t, stored.Outcome.Expected, "the stream rang meanwhile")
	require.Zero(t, stored.Outcome.Lost)
	require.Len(t, stored.Tenths(), 10)
	require.Positive(t, stored.Figures()[report.BytesPerTimer])
}

// Systems in a process of their own take bookings, ring once, and are counted.
func TestPeersAreVisited(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dbos/postgres", "nats/default", "nats/always"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := run.All(t.Context(), run.Options{
				Subjects: []string{name}, Rounds: 1, Grace: time.Minute, Watch: 100 * time.Millisecond, Progress: t.Output(),
				Plans: []scenario.Plan{
					{Name: "few", Kind: scenario.Ring, Timers: 100}, // too many for the room that a store had
					{Name: "adds", Kind: scenario.Adds, For: 100 * time.Millisecond},
				},
			})
			require.NoError(t, err)
			require.Len(t, results, 2)
			for _, result := range results {
				out := result.Outcome
				require.Zero(t, out.Lost+out.Early+out.Duplicates+out.Wrong+out.Calls.Failed, "%v", result)
				require.Len(t, out.Lateness, out.Expected)
			}
			require.Equal(t, 100, results[0].Outcome.Expected)
			require.Positive(t, results[0].Figures()[report.CPUPerTimer])
			require.Positive(t, results[1].Figures()[report.AddRate])
			// A store grows in steps, and what a tenth of a second adds may fit into the last one.
			require.Positive(t, results[0].Figures()[report.BytesPerTimer]+results[1].Figures()[report.BytesPerTimer])
		})
	}
}

// What was acknowledged outlives a kill, and a power cut only where it was synced: that is the
// control of the oracle.
func TestCrashesAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		subject    string
		power, all bool
		grace      time.Duration
	}{
		{"nats/default", false, false, time.Minute}, {"nats/always", true, false, time.Minute},
		{"nats/default", true, true, 2 * time.Second}, // nothing comes
	} {
		t.Run(fmt.Sprint(c.subject, c.power), func(t *testing.T) {
			t.Parallel()
			results, err := run.All(t.Context(), run.Options{
				Subjects: []string{c.subject}, Rounds: 1, Grace: c.grace, Watch: 100 * time.Millisecond, Progress: t.Output(),
				Plans: []scenario.Plan{{
					Name: "crash", Kind: scenario.Crash, For: 500 * time.Millisecond, Rate: 50, Ahead: 2 * time.Second, Power: c.power,
				}},
			})
			require.NoError(t, err)
			require.Len(t, results, 1)
			out := results[0].Outcome
			if c.power && os.Geteuid() != 0 {
				require.NotEmpty(t, out.Skipped)
				return
			}
			require.Positive(t, out.Expected)
			require.Equal(t, map[bool]int{false: 0, true: out.Expected}[c.all], out.Lost)
			require.InDelta(t, out.Expected, results[0].Figures()[report.Acknowledged], 0)
			require.NotContains(t, results[0].Figures(), report.CPUPerTimer, "of killed processes")
		})
	}
}

func TestUnknownSubjectIsToldApart(t *testing.T) {
	t.Parallel()
	_, err := run.All(t.Context(), run.Options{Subjects: []string{"nobody"}, Rounds: 1, Progress: t.Output()})
	require.ErrorContains(t, err, `no subject "nobody"`)
}
