// Command wakecall runs one role of the timer service: the HTTP API, or the
// worker that rings.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/wakecall/wakecall/internal/apply"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/role"
)

const usage = `wakecall is an alarm clock for services, on Temporal.

  wakecall api       serve the HTTP API
  wakecall worker    ring the timers
  wakecall version   print the version

  wakecall policies apply FILE [--dry-run]
                     bring the policies of a running Wakecall in line with a file

Settings are environment variables; see docs/configuration.md.
`

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	roles := map[string]func(context.Context, *role.House) error{"api": serveAPI, "worker": runWorker}
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(buildVersion())
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "policies" && os.Args[2] == "apply" {
		os.Exit(applyPolicies(os.Args[3:]))
	}
	if len(os.Args) != 2 || roles[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, roles[os.Args[1]]); err != nil {
		fmt.Fprintln(os.Stderr, "wakecall:", err)
		os.Exit(exitFailure)
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
	if err := apply.Run(ctx, options, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	return 0
}

func run(ctx context.Context, perform func(context.Context, *role.House) error) error {
	settings, err := config.Load()
	if err != nil {
		return err
	}
	logger, err := observe.Logger(os.Stderr, settings.LogLevel)
	if err != nil {
		return err
	}
	temporal, err := role.FromEnvironment()
	if err != nil {
		return err
	}
	house, err := role.Open(ctx, role.Settings{Config: settings, Version: buildVersion(), Logger: logger, Temporal: temporal})
	if err != nil {
		return err
	}
	defer house.Close()
	return perform(ctx, house)
}

func serveAPI(ctx context.Context, house *role.House) error {
	return role.Serve(ctx, house.API(), house.Config.HTTPAddr, announce(house, "api"))
}

func runWorker(ctx context.Context, house *role.House) error {
	workers, err := house.StartWorker()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return role.Serve(ctx, house.Metrics(), house.Config.MetricsAddr, announce(house, "worker"))
}

func announce(house *role.House, name string) func(net.Addr) {
	return func(addr net.Addr) {
		house.Logger.Info("started", "role", name, "addr", addr.String(), "version", house.Version)
	}
}
