package main

import (
	"context"
	"flag"
	"os"

	"github.com/wakecall/wakecall/bench/counts"
	"github.com/wakecall/wakecall/bench/guard"
)

// checkCommand is the argument that compares counts with the baseline.
const checkCommand = "check"

func check(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(checkCommand, flag.ContinueOnError)
	file := flags.String("baseline", "baseline.json", "the `file` with what a timer may cost")
	update := flags.Bool("update", false, "write what was counted into the file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	baseline, err := guard.Load(*file)
	if err != nil {
		return err
	}
	counted, err := counts.Count(ctx, os.Stderr)
	if err != nil {
		return err
	}
	held := baseline.Hold(os.Stdout, counted)
	if *update {
		return baseline.With(counted).Save(*file)
	}
	return held
}
