package main

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/bench/run"
	"github.com/wakecall/wakecall/bench/scenario"
)

const (
	// grace is how long a ring that is late is waited for, watch how long the
	// receiver looks out for duplicates.
	grace = 2 * time.Minute
	watch = time.Second
)

// parse reads what to run. A preset gives the sizes; single flags win over it.
func parse(args []string) (options run.Options, dir string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "the small preset, about two minutes")
	subjects := flags.String("subjects", "", "comma-separated `names`; all those of the preset by default")
	scenarios := flags.String("scenarios", "", "comma-separated `names`; all those of the preset by default")
	rounds := flags.Int("rounds", 0, "how many rounds; the preset's by default")
	herd := flags.Int("herd", 0, "how many timers fall due at one instant; the preset's by default")
	steady := flags.Duration("steady", 0, "how long the steady load is; the preset's by default")
	flags.StringVar(&dir, "out", "", "`directory` that the report is written to")
	if err := flags.Parse(args); err != nil {
		return options, "", err
	}
	sizes := full
	if *quick {
		sizes = small
	}
	sizes.herd, sizes.steady = cmp.Or(*herd, sizes.herd), cmp.Or(*steady, sizes.steady)
	return run.Options{
		Subjects: pick(sizes.subjects, *subjects), Plans: pickPlans(sizes.plans(), *scenarios),
		Rounds: cmp.Or(*rounds, sizes.rounds), Grace: grace, Watch: watch, Progress: os.Stderr,
	}, dir, nil
}

func pick(preset []string, names string) []string {
	if names == "" {
		return preset
	}
	return strings.Split(names, ",")
}

func pickPlans(preset []scenario.Plan, names string) []scenario.Plan {
	if names == "" {
		return preset
	}
	wanted := strings.Split(names, ",")
	return slices.DeleteFunc(preset, func(p scenario.Plan) bool { return !slices.Contains(wanted, p.Name) })
}
