// Package counts takes the counts that package guard compares. They are of Wakecall on whole
// deployments.
package counts

import (
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/wakecall/wakecall/bench/guard"
	"github.com/wakecall/wakecall/bench/report"
	"github.com/wakecall/wakecall/bench/run"
	"github.com/wakecall/wakecall/bench/scenario"
)

// timers are so many that the background work of a store matters little.
var timers = scenario.Plan{Name: "count", Kind: scenario.Ring, Timers: 500, Over: 5 * time.Second}

// counted are the measures that do not depend on the speed of the machine.
var counted = []report.Measure{report.Transitions, report.Events, report.Commits}

// Count takes all counts.
func Count(ctx context.Context, progress io.Writer) (guard.Counts, error) {
	counts, err := perTimer(ctx, progress)
	if err != nil {
		return nil, err
	}
	allocs, err := allocsPerAdd(ctx)
	maps.Copy(counts, guard.Counts{guard.AllocsPerAdd: allocs})
	return counts, err
}

// perTimer rings timers on both engines.
func perTimer(ctx context.Context, progress io.Writer) (guard.Counts, error) {
	results, err := run.All(ctx, run.Options{
		Subjects: []string{"wakecall/sqlite", "wakecall/postgres", "wakecall-serve/postgres"}, Plans: []scenario.Plan{timers}, Rounds: 1,
		Grace: time.Minute, Watch: time.Second, Progress: progress,
	})
	if err != nil {
		return nil, err
	}
	counts := guard.Counts{}
	for _, result := range results {
		if out := result.Outcome; out.Lost+out.Early+out.Duplicates+out.Wrong > 0 {
			return nil, fmt.Errorf("%s: %v", result.Subject, result)
		}
		figures := result.Figures()
		for _, measure := range counted {
			if figure, taken := figures[measure]; taken {
				counts[result.Subject+" "+string(measure)] = figure
			}
		}
	}
	return counts, nil
}
