// Command wakecall runs the timer service: the HTTP API, the worker that rings, or
// both in one process.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/wakecall/wakecall/internal/app"
	"github.com/wakecall/wakecall/internal/apply"
	"github.com/wakecall/wakecall/internal/build"
	"github.com/wakecall/wakecall/internal/cli"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/listen"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/terminal"
)

const usage = `wakecall is an alarm clock for services, on Temporal.

  wakecall serve     serve the HTTP API and ring the timers, in one process: the usual node
  wakecall api       serve the HTTP API only
  wakecall worker    ring the timers only
  wakecall version   print the version

  wakecall add | get | list | move | cancel | fire | redeliver | attempts | policies | emergency | bulk | dispatch
                     call a running Wakecall; see docs/cli.md, or --help of each
  wakecall completion bash | zsh | fish
                     print a script that completes these

  wakecall policies apply FILE [--dry-run]
                     bring the policies of a running Wakecall in line with a file
  wakecall listen --type TYPE [--forward URL] [--window N]
                     connect as a receiver, and ring a local server

Settings are environment variables; see docs/configuration.md.
`

const (
	exitFailure = 1
	exitUsage   = 2
)

// version is set by the linker.
var version string

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) (exit int) {
	roles := map[string]func(context.Context, *app.App) error{"serve": serve, "api": serveAPI, "worker": runWorker}
	switch {
	case len(args) > 2 && args[0] == "policies" && args[1] == "apply" && !slices.ContainsFunc(args, isHelp):
		return applyPolicies(args[2:])
	case len(args) > 0 && cli.Knows(args[0]):
		return callWakecall(args)
	case slices.ContainsFunc(args, isHelp) || len(args) == 1 && args[0] == "help":
		fmt.Print(usage)
		return 0
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version"):
		fmt.Println(build.Version(version))
		return 0
	case len(args) > 0 && args[0] == "listen":
		return listenFor(args[1:])
	case len(args) == 1 && roles[args[0]] != nil:
		return perform(roles[args[0]])
	}
	fmt.Fprint(os.Stderr, usage)
	return exitUsage
}

// callWakecall calls a running Wakecall.
func callWakecall(args []string) (exit int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, args, cli.Standard())
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-help" || arg == "-h" }

func perform(role func(context.Context, *app.App) error) (exit int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, role); err != nil {
		complain(err)
		return exitFailure
	}
	return 0
}

// complain prints every line of an error.
func complain(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, _ = fmt.Fprintln(terminal.Writer(os.Stderr), "wakecall:", line)
	}
}

func applyPolicies(args []string) (exit int) {
	options, ok := apply.Parse(args)
	if !ok {
		fmt.Fprint(os.Stderr, usage)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := apply.Run(ctx, options, terminal.Writer(os.Stdout)); err != nil {
		_, _ = fmt.Fprintln(terminal.Writer(os.Stderr), err)
		return exitFailure
	}
	return 0
}

func listenFor(args []string) (exit int) {
	options, ok := listen.Parse(args)
	if !ok {
		fmt.Fprint(os.Stderr, usage)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := listen.Run(ctx, options, os.Stdout); err != nil {
		complain(err)
		return exitFailure
	}
	return 0
}

func run(ctx context.Context, perform func(context.Context, *app.App) error) error {
	settings, err := config.Load()
	if err != nil {
		return err
	}
	logger, err := observe.Logger(os.Stderr, settings.LogLevel)
	if err != nil {
		return err
	}
	temporal, err := app.FromEnvironment()
	if err != nil {
		return err
	}
	wakecall, err := app.Open(ctx, app.Settings{Config: settings, Version: build.Version(version), Logger: logger, Temporal: temporal})
	if err != nil {
		return err
	}
	defer wakecall.Close()
	wakecall.CheckTemporal(ctx)
	return perform(ctx, wakecall)
}

func serve(ctx context.Context, wakecall *app.App) error {
	workers, err := wakecall.StartWorkerBeside()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return wakecall.ServeAPI(ctx, announce(wakecall, "serve"))
}

func serveAPI(ctx context.Context, wakecall *app.App) error {
	return wakecall.ServeAPI(ctx, announce(wakecall, "api"))
}

func runWorker(ctx context.Context, wakecall *app.App) error {
	workers, err := wakecall.StartWorker()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return wakecall.ServeMetrics(ctx, announce(wakecall, "worker"))
}

func announce(wakecall *app.App, name string) func(net.Addr) {
	return func(addr net.Addr) {
		wakecall.Logger.Info("started", "role", name, "addr", addr.String(), "version", wakecall.Version)
	}
}
