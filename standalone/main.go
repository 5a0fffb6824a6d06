// Command standalone runs the whole of Wakecall in one process: Temporal on
// SQLite, its Web UI, the worker and the API. It is what `make run` starts.
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
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/internal/app"
	"github.com/wakecall/wakecall/internal/build"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/standalone/embedded"
)

const usage = `wakecall-standalone is all of Wakecall in one process: Temporal on SQLite, its
Web UI, the worker and the API.

  wakecall-standalone              run it
  wakecall-standalone backup DIR   copy the data directory to DIR, a new one,
                                   whether it is in use or not
  wakecall-standalone version      print the version

Settings are environment variables; see docs/configuration.md.
`

const (
	exitFailure = 1
	exitUsage   = 2
)

// stopTime is the whole of a clean stop. The standalone form does not wait for
// the longest attempts: what is cut off rings again after the next start.
const stopTime = 9 * time.Second

// version is set by the linker.
var version string

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) (exit int) {
	perform := run
	switch {
	case len(args) == 0:
	case slices.ContainsFunc(args, isHelp) || len(args) == 1 && args[0] == "help":
		fmt.Print(usage)
		return 0
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version"):
		fmt.Println(build.Version(version))
		return 0
	case len(args) == 2 && args[0] == "backup":
		perform = func(ctx context.Context) error { return backup(ctx, args[1]) }
	default:
		fmt.Fprint(os.Stderr, usage)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := perform(ctx); err != nil {
		complain(err)
		return exitFailure
	}
	return 0
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-help" || arg == "-h" }

// complain prints every line of an error.
func complain(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(os.Stderr, "wakecall:", line)
	}
}

func run(ctx context.Context) error {
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
	defer stopServer(server)
	if shared, err = own.complete(shared); err != nil {
		return err
	}
	wakecall, err := app.Open(ctx, app.Settings{
		Config: shared, Version: build.Version(version), Logger: logger,
		Temporal: client.Options{HostPort: own.TemporalAddr, Namespace: client.DefaultNamespace},
	})
	if err != nil {
		return err
	}
	defer wakecall.Close()
	wakecall.CheckTemporal(ctx)
	workers, err := wakecall.StartWorkerBeside()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return wakecall.ServeAPI(ctx, own.greet)
}

func (s settings) greet(api net.Addr) {
	fmt.Printf(`
Wakecall is ready.

  API          http://%[1]s        (description: http://%[1]s/docs)
  Web UI       http://%[2]s
  Temporal     %[3]s
  data         %[4]s

Try it:

  curl -sS http://%[1]s/v1/timers -H 'Content-Type: application/json' -d '{
    "business_type": "demo", "business_id": "hello-1", "delay": "5s",
    "payload": {"hello": "world"},
    "callback": {"url": "http://127.0.0.1:9000/"}}'

`, api, reachable(s.UIAddr), s.TemporalAddr, s.DataDir)
}

func stopServer(server *embedded.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime/3)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		complain(err)
	}
}

// backup copies what the settings name to a new directory.
func backup(ctx context.Context, dir string) error {
	var own settings
	var shared config.Config
	if err := config.Read(&shared, &own); err != nil {
		return err
	}
	took := time.Now()
	if err := embedded.Backup(ctx, own.DataDir, dir); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	fmt.Printf("%s is copied to %s, in %s.\n", own.DataDir, dir, time.Since(took).Round(time.Millisecond))
	if shared.SecretKey != "" {
		fmt.Println("The secret key is not in it: it stands in WAKECALL_SECRET_KEY. Keep it apart, and safe.")
	}
	return nil
}
