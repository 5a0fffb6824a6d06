// Package preset reads the options of a run. Presets give the sizes of its scenarios.
package preset

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/bench/run"
	"github.com/wakecall/wakecall/bench/scenario"
)

const (
	// grace is how long a late ring is awaited, and watch is how long the receiver watches
	// for duplicates.
	grace = 2 * time.Minute
	watch = time.Second
)

// Parse reads the options of a run on some of the named subjects. A preset gives the sizes; single
// flags override it. The report is written to dir, unless that is empty.
func Parse(args, names []string) (options run.Options, dir string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "the small preset, a few minutes")
	subjects := flags.String("subjects", "", "comma-separated `names` instead of the preset's; of "+strings.Join(names, ", "))
	scenarios := flags.String("scenarios", "", "comma-separated `names` instead of the preset's")
	flags.StringVar(&dir, "out", "", "`directory` that the report is written to")
	rounds := flags.Int("rounds", 0, "how many rounds")
	herd := flags.Int("herd", 0, "how many timers fall due at one instant")
	steady := flags.Duration("steady", 0, "how long the steady load is")
	preload := flags.Duration("preload", 0, "how long the timers of herd-preload are held in memory")
	pending := flags.Int("pending", 0, "how many timers pending books for later")
	if err := flags.Parse(args); err != nil {
		return options, "", err
	}
	sizes := full
	if *quick {
		sizes = small
	}
	sizes.rounds, sizes.herd, sizes.steady = cmp.Or(*rounds, sizes.rounds), cmp.Or(*herd, sizes.herd), cmp.Or(*steady, sizes.steady)
	sizes.preload, sizes.pending = cmp.Or(*preload, sizes.preload), cmp.Or(*pending, sizes.pending)
	plans, err := pickPlans(sizes.plans(), *scenarios)
	return run.Options{
		Subjects: pick(sizes.subjects, *subjects), Plans: plans, Rounds: sizes.rounds, Grace: grace, Watch: watch, Progress: os.Stderr,
	}, dir, err
}

func pick(preset []string, names string) []string {
	if names == "" {
		return preset
	}
	return strings.Split(names, ",")
}

// pickPlans keeps the order of the preset.
func pickPlans(preset []scenario.Plan, names string) ([]scenario.Plan, error) {
	if names == "" {
		return preset, nil
	}
	wanted := map[string]bool{}
	for _, name := range strings.Split(names, ",") {
		wanted[name] = true
	}
	picked := slices.DeleteFunc(slices.Clone(preset), func(p scenario.Plan) bool { return !wanted[p.Name] })
	if len(picked) < len(wanted) {
		return nil, fmt.Errorf("of %q, this preset has only %d; pending needs -pending", names, len(picked))
	}
	return picked, nil
}
