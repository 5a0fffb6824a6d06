// Command bench measures Wakecall beside bare Temporal and comparable job queues, all in one
// run on one machine. See docs/performance-method.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/wakecall/wakecall/bench/preset"
	"github.com/wakecall/wakecall/bench/remote"
	"github.com/wakecall/wakecall/bench/report"
	"github.com/wakecall/wakecall/bench/run"
	"github.com/wakecall/wakecall/bench/systems"
	"github.com/wakecall/wakecall/internal/build"
)

// version is set by the linker.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case remote.Command:
			return remote.Serve(ctx, remote.Standard(), systems.New)
		case checkCommand:
			return check(ctx, args[1:])
		case "version", "--version":
			fmt.Println(build.Version(version))
			return nil
		}
	}
	return measure(ctx, args)
}

func measure(ctx context.Context, args []string) error {
	options, dir, err := preset.Parse(args, systems.Names())
	if err != nil {
		return err
	}
	results, failed := run.All(ctx, options)
	found := report.New(results)
	return errors.Join(failed, report.Text(os.Stdout, found), writeReport(found, dir))
}

// writeReport writes the report to a directory, if one is named.
func writeReport(found report.Report, dir string) error {
	if dir == "" {
		return nil
	}
	if err := found.Write(dir); err != nil {
		return err
	}
	fmt.Printf("\nThe report is in %s.\n", filepath.Join(dir, "report.{txt,json,svg}"))
	return nil
}
