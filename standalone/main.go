// Command standalone runs the whole of Wakecall in one process: Temporal on SQLite, its Web UI,
// the worker and the API. `make run` starts it.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/cmd"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/cmd/roles"
	"github.com/wakecall/wakecall/internal/build"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/standalone/embedded"
)

const long = `wakecall-standalone is all of Wakecall in one process: Temporal on SQLite, its
Web UI, the worker and the API. Without a command it runs until it is stopped.

Settings are environment variables; see docs/configuration.md.`

// stopTime bounds a clean stop. The standalone form does not wait for the longest attempts.
// Those that are cut off ring again after the next start.
const stopTime = 9 * time.Second

// version is set by the linker.
var version string

func main() { os.Exit(program.Execute(commands)) }

// commands returns the tree of commands.
func commands(streams program.Streams) *cobra.Command {
	version := build.Version(version)
	root := &cobra.Command{
		Use: "wakecall-standalone", Short: "All of Wakecall in one process", Long: long, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), version, streams) },
	}
	cmd.Complete(root, version, streams)
	cmd.AddToNode(root, &cobra.Command{
		Use: "backup DIR", Short: "Copy the data directory to DIR, a new one, whether it is in use or not", Args: cobra.ExactArgs(1),
		Example: "wakecall-standalone backup /var/backups/wakecall-1",
		RunE:    func(c *cobra.Command, args []string) error { return backup(c.Context(), args[0], streams.Out) },
	})
	return root
}

func run(ctx context.Context, version string, streams program.Streams) error {
	addSpareProcs()
	defer holdHeap()()
	var own settings
	var shared config.Config
	err := config.Read(&shared, &own)
	if err != nil {
		return err
	}
	logger, err := observe.Logger(os.Stderr, shared.LogLevel)
	if err != nil {
		return err
	}
	server, err := embedded.Start(own.options(shared.WebUI))
	if err != nil {
		return err
	}
	defer func() {
		if err := stopServer(server); err != nil {
			logger.Warn("Temporal did not stop cleanly", "error", err)
		}
	}()
	if shared, err = own.complete(shared); err != nil {
		return err
	}
	app, err := roles.Open(ctx, roles.Settings{
		Config: shared, Version: version, Command: fromAnywhere(commandLine(os.Args[0])), Logger: logger,
		Temporal: client.Options{HostPort: own.TemporalAddr, Namespace: client.DefaultNamespace},
	})
	if err != nil {
		return err
	}
	defer app.Close()
	app.CheckTemporal(ctx)
	app.AddCheck(own.checkDisk)
	workers, err := app.StartWorkerBeside()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return app.ServeAPI(ctx, func(api net.Addr) {
		own.greet(greets(shared, streams), shared.Scheme()+"://"+api.String(), shared.AsksWho())
	})
}

func stopServer(server *embedded.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime/3)
	defer cancel()
	return server.Stop(ctx)
}

// backup copies the data directory of the settings to a new directory.
func backup(ctx context.Context, dir string, out io.Writer) error {
	var own settings
	var shared config.Config
	if err := config.Read(&shared, &own); err != nil {
		return err
	}
	began := time.Now()
	if err := embedded.Backup(ctx, own.DataDir, dir); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, _ = fmt.Fprintf(out, "%s is copied to %s, in %s.\n", own.DataDir, dir, time.Since(began).Round(time.Millisecond))
	if shared.SecretKey != "" {
		_, _ = fmt.Fprintln(out, "The copy does not contain the secret key of WAKECALL_SECRET_KEY. Keep the key in another safe place.")
	}
	return nil
}
