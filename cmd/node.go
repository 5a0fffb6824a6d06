package cmd

import (
	"context"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd/roles"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
)

// role is what a node does until its context ends.
type role func(context.Context, *roles.App) error

func nodeCommands(version string) []*cobra.Command {
	command := func(name, short string, perform role) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: short, Args: cobra.NoArgs,
			Long:    short + ".\n\nSettings are environment variables; see docs/configuration.md.",
			Example: "TEMPORAL_ADDRESS=temporal:7233 wakecall " + name,
			RunE:    func(c *cobra.Command, _ []string) error { return start(c.Context(), version, perform) },
		}
	}
	return []*cobra.Command{
		command("serve", "Serve the HTTP API and ring the timers, in one process: the usual node", serve),
		command("api", "Serve the HTTP API only", serveAPI),
		command("worker", "Ring the timers only", runWorker),
	}
}

// start performs a role as the environment sets it.
func start(ctx context.Context, version string, perform role) error {
	settings, err := config.Load()
	if err != nil {
		return err
	}
	logger, err := observe.Logger(os.Stderr, settings.LogLevel)
	if err != nil {
		return err
	}
	temporal, err := roles.FromEnvironment()
	if err != nil {
		return err
	}
	app, err := roles.Open(ctx, roles.Settings{Config: settings, Version: version, Logger: logger, Temporal: temporal})
	if err != nil {
		return err
	}
	defer app.Close()
	app.CheckTemporal(ctx)
	return perform(ctx, app)
}

func serve(ctx context.Context, app *roles.App) error {
	workers, err := app.StartWorkerBeside()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return app.ServeAPI(ctx, announce(app, "serve"))
}

func serveAPI(ctx context.Context, app *roles.App) error {
	return app.ServeAPI(ctx, announce(app, "api"))
}

func runWorker(ctx context.Context, app *roles.App) error {
	workers, err := app.StartWorker()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return app.ServeMetrics(ctx, announce(app, "worker"))
}

func announce(app *roles.App, name string) func(net.Addr) {
	return func(addr net.Addr) {
		app.Logger.Info("started", "role", name, "addr", addr.String(), "version", app.Version)
	}
}
