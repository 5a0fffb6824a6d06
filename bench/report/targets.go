package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Target is a goal for a subject.
type Target struct {
	Own     Cell    `json:"own"`
	Measure Measure `json:"measure"`
	// Beside is the figure to compare Own with, in the same run. Without it Bound is the
	// worst value of Own: the least of a rate, the most of everything else.
	Beside Cell `json:"beside,omitzero"`
	// Bound is the required ratio to Beside.
	Bound float64 `json:"bound"`
}

// Cell is one subject in one scenario.
type Cell struct {
	Scenario string `json:"scenario"`
	Subject  string `json:"subject"`
}

// Verdict is the result of a target.
type Verdict struct {
	Target

	// Reached is the figure to compare with Bound.
	Reached float64 `json:"reached"`
	Met     bool    `json:"met"`
}

var peers = []string{"river/postgres", "asynq/redis"}

// node is Wakecall on PostgreSQL as the compose file runs it.
const node = "wakecall-serve/postgres"

// Targets are those of the project.
func Targets() (targets []Target) {
	return append(besidePeers(), eager()...)
}

// eager are the targets of timers that a worker gets at booking.
func eager() (targets []Target) {
	for _, subject := range []string{"wakecall/sqlite", node} {
		steady, herd := Cell{"steady-50", subject}, Cell{"herd-soon", subject}
		targets = append(targets,
			Target{steady, Transitions, Cell{}, 2},
			Target{herd, DrainRate, Cell{}, 1000},
			Target{herd, LatenessP99, Cell{}, 3000},
			Target{herd, Early, Cell{}, 0},
			Target{herd, Duplicates, Cell{}, 0},
			Target{herd, Lost, Cell{}, 0},
		)
	}
	steady := Cell{"steady-50", node}
	return append(targets,
		Target{steady, Commits, Cell{}, 6.5},
		Target{steady, CPUPerTimer, Cell{"steady-50", "wakecall/postgres"}, 1 / 0.7},
		Target{Cell{"adds", node}, AddRate, Cell{"adds", "temporal-local/postgres"}, 0.9},
	)
}

func besidePeers() (targets []Target) {
	steady, held := Cell{"steady-50", "wakecall/sqlite"}, Cell{"herd-preload", "wakecall/sqlite"}
	for _, peer := range peers {
		targets = append(targets,
			Target{steady, LatenessP50, Cell{steady.Scenario, peer}, 200},
			Target{steady, LatenessP99, Cell{steady.Scenario, peer}, 300},
			Target{held, DrainRate, Cell{"herd", peer}, 1}, // a peer has no preload
		)
	}
	targets = append(targets, Target{held, LatenessP99, Cell{}, 1500})
	for _, engine := range []string{"sqlite", "postgres"} {
		own := func(scenario string) Cell { return Cell{scenario, "wakecall/" + engine} }
		local, sleep := "temporal-local/"+engine, "temporal-sleep/"+engine
		targets = append(targets,
			Target{own("herd"), DrainRate, Cell{"herd", local}, 0.9},
			Target{own("herd"), DrainRate, Cell{"herd", sleep}, 2},
		)
		for _, scenario := range []string{"adds", "adds-batch"} {
			targets = append(targets,
				Target{own(scenario), AddRate, Cell{scenario, local}, 0.9},
				Target{own(scenario), AddRate, Cell{scenario, sleep}, 2},
			)
		}
		for _, scenario := range []string{"steady-10", "steady-50", "steady-100", "herd", "herd-preload", "mixed", "recurring"} {
			for _, count := range []Measure{Early, Duplicates, Lost, Wrong} {
				targets = append(targets, Target{own(scenario), count, Cell{}, 0})
			}
		}
	}
	return targets
}

// Judge compares a run with the targets. It leaves out targets whose subjects or scenarios
// were not run.
func Judge(tables []Table, targets []Target) (verdicts []Verdict) {
	for _, target := range targets {
		own, ok := figure(tables, target.Own, target.Measure)
		if !ok {
			continue
		}
		if target.Beside == (Cell{}) {
			met := own <= target.Bound
			if rates[target.Measure] {
				met = own >= target.Bound
			}
			verdicts = append(verdicts, Verdict{target, own, met})
			continue
		}
		if beside, ok := figure(tables, target.Beside, target.Measure); ok {
			reached := times(target.Measure, own, beside)
			verdicts = append(verdicts, Verdict{target, reached, reached >= target.Bound})
		}
	}
	return verdicts
}

// rates are better the larger they are.
var rates = map[Measure]bool{DrainRate: true, AddRate: true}

// times is how many times better one figure is than another: larger for a rate, smaller for
// everything else.
func times(measure Measure, own, beside float64) float64 {
	if rates[measure] {
		return own / beside
	}
	return beside / own
}

func figure(tables []Table, cell Cell, measure Measure) (value float64, ok bool) {
	for _, table := range tables {
		for _, row := range table.Rows {
			if table.Scenario == cell.Scenario && row.Subject == cell.Subject {
				spread, ok := row.Figures[measure]
				return spread.Median, ok
			}
		}
	}
	return 0, false
}

// verdicts writes the comparisons. Of the figures that must be 0 it writes only the missed ones.
func verdicts(w io.Writer, all []Verdict) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := []string{"\ntargets\t\t\treached\tbound\t"}
	for _, v := range all {
		if counts[v.Measure] && v.Met {
			continue
		}
		lines = append(lines, v.line())
	}
	if len(lines) == 1 {
		return nil
	}
	if _, err := fmt.Fprintln(tabs, strings.Join(lines, "\n")); err != nil {
		return err
	}
	return tabs.Flush()
}

func (v Verdict) line() string {
	beside, unit, judged := "", "", "missed"
	if v.Beside != (Cell{}) {
		beside, unit = "beside "+v.Beside.Subject, " times"
	}
	if v.Met {
		judged = "met"
	}
	return strings.Join([]string{
		v.Own.Scenario + " " + string(v.Measure), v.Own.Subject, beside, number(v.Reached) + unit, number(v.Bound), judged,
	}, "\t")
}
