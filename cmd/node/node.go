package node

import (
	"context"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/cmd"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/cmd/roles"
	"github.com/wakecall/wakecall/internal/build"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/quota/shared"
)

// Execute runs the command line of a node and returns its exit code. version is the linker's.
func Execute(version string) (exit int) { return program.Execute(node(build.Version(version))) }

// node builds the tree of commands of a node.
func node(version string) program.Build {
	return func(streams program.Streams) *cobra.Command {
		root := program.Group("wakecall", "An alarm clock for services, on Temporal")
		cmd.Complete(root, version, streams)
		cmd.AddToNode(root, nodeCommands(version)...)
		return root
	}
}

// role is the work of a node until its context ends.
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

// start performs a role with the settings of the environment.
func start(ctx context.Context, version string, perform role) error {
	var settings config.Config
	var sharing shared.Settings
	if err := config.Read(&settings, &sharing); err != nil {
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
	own := roles.Settings{Config: settings, Version: version, Logger: logger, Temporal: temporal}
	if sharing.RedisURL != "" {
		limiter, err := shared.New(sharing.RedisURL, logger)
		if err != nil {
			return err
		}
		defer limiter.Close()
		own.Limiter = limiter
	}
	app, err := roles.Open(ctx, own)
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
