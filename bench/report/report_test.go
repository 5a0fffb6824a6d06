package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/remote"
	"github.com/wakecall/wakecall/bench/report"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
)

// steady is a round in which 100 timers rang 1, 2, … 100 units late.
func steady(name string, round int, unit time.Duration) report.Result {
	r := report.Result{
		Subject: name, Round: round, Plan: scenario.Plan{Name: "steady-50", Kind: scenario.Ring, Over: time.Second},
		Outcome: scenario.Outcome{Expected: 100},
		Spent:   remote.Spent{CPU: map[string]time.Duration{"a": 150 * time.Millisecond, "b": 50 * time.Millisecond}},
	}
	for i := range 100 {
		r.Outcome.Lateness = append(r.Outcome.Lateness, time.Duration(100-i)*unit)
	}
	return r
}

func TestFigures(t *testing.T) {
	t.Parallel()
	r := steady("one", 0, time.Millisecond)
	r.Spent.Trails = []subject.Trail{{Transitions: 4, Events: 6}, {Transitions: 6, Events: 9}, {Transitions: 4, Events: 6}}
	r.Spent.Counters.Commits = 1050
	figures := r.Figures()
	for measure, want := range map[report.Measure]float64{
		report.LatenessP50: 50, report.LatenessP99: 99, report.LatenessMax: 100, report.CPUPerTimer: 2,
		report.Transitions: 4, report.Events: 6, report.Commits: 10.5, report.Lost: 0,
	} {
		require.InDelta(t, want, figures[measure], 1e-9, measure)
	}
	require.NotContains(t, figures, report.DrainRate, "they were not due at one instant")
	r.Plan.Over, r.Outcome.Drain = 0, 4*time.Second
	require.InDelta(t, 25, r.Figures()[report.DrainRate], 1e-9)
}

func TestSummaryTakesTheMiddleRoundAndTheWorstCount(t *testing.T) {
	t.Parallel()
	rounds := []report.Result{
		steady("one", 0, time.Millisecond), steady("two", 0, time.Millisecond),
		steady("one", 1, 9*time.Millisecond), steady("one", 2, 2*time.Millisecond), steady("one", 3, time.Hour),
	}
	rounds[0].Outcome.Early = 1
	rounds[4].Outcome.Invalid = "it was disturbed"
	tables := report.Summarise(rounds)
	require.Len(t, tables, 1)
	require.Equal(t, "one", tables[0].Rows[0].Subject)
	require.Equal(t, report.Spread{Median: 100, Least: 50, Most: 450}, tables[0].Rows[0].Figures[report.LatenessP50])
	require.InDelta(t, 1, tables[0].Rows[0].Figures[report.Early].Median, 0, "a fault of one round is a fault")
	require.Equal(t, []string{"it was disturbed"}, tables[0].Rows[0].Notes)
	require.Equal(t, "two", tables[0].Rows[1].Subject)
}

func TestPendingTellsTheWayAndTheMemory(t *testing.T) {
	t.Parallel()
	r := report.Result{
		Subject: "one", Plan: scenario.Plan{Name: "pending", Kind: scenario.Pending, Timers: 200, Rate: 10},
		Outcome: scenario.Outcome{Expected: 50, Calls: scenario.Calls{
			Made: 4, Timers: 150, Elapsed: 3 * time.Second, Tenths: []scenario.Tenth{
				{End: time.Time{}.Add(time.Second), Timers: 100, CPU: map[string]time.Duration{"api": 303 * time.Millisecond}, Memory: map[string]int64{"worker": 80 << 20, "api": 40 << 20}, Bytes: 1 << 20},
				{Begin: time.Time{}.Add(time.Second), End: time.Time{}.Add(3 * time.Second), Timers: 50, Memory: map[string]int64{"worker": 81 << 20, "api": 40 << 20}, Bytes: 2 << 20},
			},
		}, ByTenth: [][]time.Duration{{time.Millisecond}, {2 * time.Millisecond, 3 * time.Millisecond}}},
		Stored: 200_000,
	}
	require.InDelta(t, 25, r.Tenths()[1].Figures[report.AddRate], 1e-9, "of 100 timers, 50 were booked")
	require.InDelta(t, 1000, r.Figures()[report.BytesPerTimer], 1e-9, "the timers of the stream are stored as well")
	require.InDelta(t, 50, r.Figures()[report.AddRate], 1e-9)
	notes := report.Summarise([]report.Result{r})[0].Rows[0].Notes
	require.Equal(t, []string{
		"by tenths, p50 ms: 1 2", "by tenths, p99 ms: 1 3", "by tenths, max ms: 1 3", "by tenths, adds/s: 100 25",
		"by tenths, CPU ms/timer: 3 0", "by tenths, MB on disk: 1 2", "by tenths, MB of api: 40 40", "by tenths, MB of worker: 80 81",
	}, notes)
}

func TestRecurringIsSharedOutOverAllOccurrences(t *testing.T) {
	t.Parallel()
	r := steady("one", 0, time.Millisecond)
	r.Plan = scenario.Plan{Name: "recurring", Kind: scenario.Recurring}
	r.Spent.Recurred = subject.Recurred{Trail: subject.Trail{Transitions: 820, Events: 1200}, Occurrences: 200}
	figures := r.Figures()
	require.InDelta(t, 4.1, figures[report.Transitions], 1e-9)
	require.InDelta(t, 6, figures[report.Events], 1e-9)
	require.InDelta(t, 1, figures[report.CPUPerTimer], 1e-9, "those that rang before and after the measured time were paid for")
}

func TestReportIsWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	skipped := steady("two", 0, time.Second)
	skipped.Plan.Name, skipped.Outcome = "mixed", scenario.Outcome{Skipped: "it cannot"}
	herd := steady("one", 0, time.Millisecond)
	herd.Plan.Name, herd.Plan.Over, herd.Outcome.Drain = "herd-preload", 0, time.Second
	results := []report.Result{steady("one", 0, time.Millisecond), steady("two", 0, time.Microsecond), skipped, herd}
	require.NoError(t, report.New(results).Write(dir))

	text := read(t, dir, "report.txt")
	require.Regexp(t, `(?m)^one +50 +99 +100 +0 +0`, text)
	require.Contains(t, text, "two: it cannot")
	var kept report.Report
	require.NoError(t, json.Unmarshal([]byte(read(t, dir, "report.json")), &kept))
	require.Len(t, kept.Rounds, 4)
	require.InDelta(t, 150, kept.Rounds[0].CPU["a"], 0)
	picture := read(t, dir, "report.svg")
	require.Contains(t, picture, ">one<")
	require.Contains(t, picture, ">one, preload<", "a preloaded herd stands beside the others")
	require.NoError(t, wellFormed(picture))
	require.Error(t, wellFormed(picture[:len(picture)/2]), "the oracle sees broken XML")
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func wellFormed(text string) error {
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
