// Package report turns results into figures: as text, as JSON, and as a
// picture.
package report

import (
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/wakecall/wakecall/bench/remote"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
)

// Result is the result of one subject in one scenario of one round.
type Result struct {
	Subject string
	Plan    scenario.Plan
	Round   int
	Outcome scenario.Outcome
	// Pending is the memory by program when all was booked.
	Pending map[string]int64
	// Stored is the growth of the store until then, in bytes.
	Stored int64
	Spent  remote.Spent
	// Others is the machine share of other programs meanwhile.
	Others float64
}

// Figures are the measures of a result, by name; inapplicable ones are left out.
type Figures map[Measure]float64

// Figures computes the measures.
func (r Result) Figures() Figures {
	figures := Figures{}
	if r.Outcome.Skipped != "" {
		return figures
	}
	figures[Others] = 100 * r.Others
	r.rings(figures)
	r.calls(figures)
	if r.Plan.Kind == scenario.Crash {
		// Of the processes that were killed nothing more is known.
		figures[Acknowledged] = float64(r.Outcome.Expected)
		return figures
	}
	r.costs(figures)
	return figures
}

func (r Result) rings(figures Figures) {
	out := r.Outcome
	if out.Expected == 0 {
		return
	}
	for measure, count := range map[Measure]int{
		Expected: out.Expected, Early: out.Early, Duplicates: out.Duplicates, Lost: out.Lost, Wrong: out.Wrong,
	} {
		figures[measure] = float64(count)
	}
	figures.quantiles(out.Lateness, LatenessP50, LatenessP99, LatenessMax)
	if r.Plan.Kind == scenario.Ring && r.Plan.Over == 0 && out.Drain > 0 {
		figures[DrainRate] = float64(len(out.Lateness)) / out.Drain.Seconds()
	}
}

func (r Result) calls(figures Figures) {
	calls := r.Outcome.Calls
	if calls.Made == 0 {
		return
	}
	figures[Failed] = float64(calls.Failed)
	if calls.Elapsed > 0 && len(calls.Latency) == 0 {
		figures[AddRate] = float64(calls.Timers) / calls.Elapsed.Seconds()
	}
	figures.quantiles(calls.Latency, AnswerP50, AnswerP99, AnswerMax)
}

// timers is the number of timers that share the costs.
func (r Result) timers() int {
	booked, rings := r.Outcome.Calls.Timers, max(r.Outcome.Expected, r.Spent.Recurred.Occurrences)
	if r.Plan.Kind == scenario.Pending {
		return booked + rings
	}
	return max(booked, rings)
}

func (r Result) costs(figures Figures) {
	timers := float64(r.timers())
	figures[PendingMemory], figures[MemoryAfter] = megabytes(r.Pending), megabytes(r.Spent.Memory)
	if timers == 0 {
		return
	}
	figures[CPUPerTimer] = milliseconds(total(r.Spent.CPU)) / timers
	if commits := r.Spent.Counters.Commits; commits > 0 {
		figures[Commits] = float64(commits) / timers
	}
	if trails := r.Spent.Trails; len(trails) > 0 {
		figures[Transitions] = middle(trails, func(t subject.Trail) int64 { return t.Transitions })
		figures[Events] = middle(trails, func(t subject.Trail) int64 { return t.Events })
	}
	if recurred := r.Spent.Recurred; recurred.Occurrences > 0 {
		figures[Transitions] = float64(recurred.Transitions) / timers
		figures[Events] = float64(recurred.Events) / timers
	}
	grown := r.Spent.Counters.Bytes
	if r.Plan.Kind == scenario.Pending {
		grown = r.Stored
	}
	if grown > 0 {
		figures[BytesPerTimer] = float64(grown) / timers
	}
}

// middle is the median. Now and then a task is done twice, which is no measure of a timer's
// cost.
func middle(trails []subject.Trail, count func(subject.Trail) int64) float64 {
	sorted := make([]float64, len(trails))
	for i, trail := range trails {
		sorted[i] = float64(count(trail))
	}
	slices.Sort(sorted)
	return median(sorted)
}

// quantiles are exact: all values are kept.
func (f Figures) quantiles(values []time.Duration, p50, p99, most Measure) {
	if len(values) == 0 {
		return
	}
	sorted := make([]float64, len(values))
	for i, value := range values {
		sorted[i] = milliseconds(value)
	}
	slices.Sort(sorted)
	f[p50] = stat.Quantile(0.5, stat.Empirical, sorted, nil)
	f[p99] = stat.Quantile(0.99, stat.Empirical, sorted, nil)
	f[most] = sorted[len(sorted)-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(bytes map[string]int64) float64 { return float64(total(bytes)) / (1 << 20) }

func total[V int64 | time.Duration](parts map[string]V) (sum V) {
	for _, part := range parts {
		sum += part
	}
	return sum
}

// String is one line for an observer.
func (r Result) String() string {
	if r.Outcome.Skipped != "" {
		return "skipped: " + r.Outcome.Skipped
	}
	words, figures := []string{}, r.Figures()
	for _, column := range columns {
		if figure, measured := figures[column.measure]; measured {
			words = append(words, column.title+" "+number(figure))
		}
	}
	for _, trouble := range []string{r.Outcome.Invalid, r.Outcome.Calls.Failure} {
		if trouble != "" {
			words = append(words, trouble)
		}
	}
	return strings.Join(words, ", ")
}
