// Command standalone runs the whole of Wakecall in one process: Temporal on
// SQLite, its Web UI, the worker and the API. It is what `make run` starts.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/google/renameio/v2"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/role"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/standalone/embedded"
)

// settings are those of the standalone form, beside the ones of its roles.
type settings struct {
	TemporalAddr string        `env:"WAKECALL_TEMPORAL_ADDR" envDefault:"127.0.0.1:7233" help:"where the embedded Temporal listens"`
	UIAddr       string        `env:"WAKECALL_UI_ADDR" envDefault:"127.0.0.1:8233" help:"where Temporal's Web UI listens"`
	DataDir      string        `env:"WAKECALL_DATA_DIR" envDefault:"./data" help:"directory of everything that survives a restart"`
	Retention    time.Duration `env:"WAKECALL_RETENTION" envDefault:"720h" help:"how long finished timers are kept: the deduplication window; fixed when the data directory is made"`
	Shards       int           `env:"WAKECALL_HISTORY_SHARDS" envDefault:"4" help:"Temporal's history shards; fixed when the data directory is made"`
}

// stopTime is the whole of a clean stop. The standalone form does not wait for
// the longest attempts: what is cut off rings again after the next start.
const stopTime = 9 * time.Second

// heapFloor, in bytes, is counted as live memory by the garbage collector, is never
// touched and so takes none: the collector comes when twice as much is in use, and
// not every two seconds while timers ring (docs/decisions/0011-heap-floor.md).
const heapFloor = 256 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	floor := make([]byte, heapFloor)
	defer runtime.KeepAlive(floor)
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "wakecall:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	own, err := env.ParseAs[settings]()
	if err != nil {
		return err
	}
	shared, err := config.Load()
	if err != nil {
		return err
	}
	logger, err := observe.Logger(os.Stderr, shared.LogLevel)
	if err != nil {
		return err
	}
	server, err := embedded.Start(own.options())
	if err != nil {
		return err
	}
	defer stopServer(server)
	if shared, err = own.complete(shared); err != nil {
		return err
	}
	house, err := role.Open(ctx, role.Settings{
		Config: shared, Version: "standalone", Logger: logger,
		Temporal: client.Options{HostPort: own.TemporalAddr, Namespace: client.DefaultNamespace},
	})
	if err != nil {
		return err
	}
	defer house.Close()
	workers, err := house.StartWorker()
	if err != nil {
		return err
	}
	defer workers.Stop()
	return role.Serve(ctx, house.API(), shared.HTTPAddr, own.greet)
}

func (s settings) options() embedded.Options {
	return embedded.Options{
		Addr: s.TemporalAddr, UIAddr: s.UIAddr, DataDir: s.DataDir, Namespace: client.DefaultNamespace,
		Retention: s.Retention, Shards: s.Shards, Synchronous: "full", SearchAttributes: engine.SearchAttributes(),
	}
}

// complete fills what a newcomer need not set: a secret key kept in the data
// directory, callbacks to this machine, links to the Web UI.
func (s settings) complete(c config.Config) (config.Config, error) {
	if c.WebUI == "" {
		c.WebUI = "http://" + s.UIAddr
	}
	if len(c.CallbackAllow) == 0 {
		c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	c.StopTimeout = min(c.StopTimeout, stopTime/3)
	if c.SecretKey != "" {
		return c, nil
	}
	var err error
	c.SecretKey, err = secretKey(filepath.Join(s.DataDir, "secret.key"))
	return c, err
}

func secretKey(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		key := seal.NewKey()
		// Never a half-written key: it would lock away what was sealed before.
		return key, renameio.WriteFile(file, []byte(key+"\n"), 0o600)
	}
	if key := strings.TrimSpace(string(text)); err == nil && key == "" {
		err = fmt.Errorf("%s is empty: restore it from a backup, or remove it and put the signing secrets anew", file)
	}
	return strings.TrimSpace(string(text)), err
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

`, api, s.UIAddr, s.TemporalAddr, s.DataDir)
}

func stopServer(server *embedded.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime/3)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "wakecall:", err)
	}
}
