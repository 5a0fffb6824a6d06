// Package testenv runs the whole of Wakecall in a test's process, on a real Temporal server.
// Its parts can be stopped and started.
package testenv

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/cmd/roles"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/temporal"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/worker"
)

// Patience is [process.Patience], and Interval is [process.Interval].
const (
	Patience = process.Patience
	Interval = process.Interval
)

// Temporal starts a real server. Its files need not survive the test.
func Temporal(dir string) (addr string, stop func(), err error) {
	return TemporalWith(dir, nil, 24*time.Hour)
}

// Alone starts a server for a test that needs one of its own, and returns its address.
func Alone(t testing.TB) (addr string) { return AloneIn(t, t.TempDir()) }

// AloneIn is [Alone] with its files in a directory.
func AloneIn(t testing.TB, dir string) (addr string) {
	t.Helper()
	addr, stop, err := Temporal(dir)
	require.NoError(t, err)
	t.Cleanup(stop)
	return addr
}

// TemporalWith starts a server with its own dynamic configuration, unless that is nil, and
// with this retention of finished timers.
func TemporalWith(dir string, tuning []byte, retention time.Duration) (addr string, stop func(), err error) {
	addr = loopback.Addr()
	stop, err = temporal.Start(temporal.Settings{Addr: addr, Dir: dir, Tuning: tuning, Retention: retention})
	return addr, stop, err
}

// Env is a running Wakecall: API and, unless it was stopped, worker.
type Env struct {
	t       testing.TB
	inner   *roles.App
	workers *worker.Workers
	close   func()

	// URL is the API's.
	URL    string
	Engine *engine.Engine
	Client client.Client
}

// secretKey is shared by all environments: they share a Temporal.
var secretKey = seal.NewKey()

// Settings are the settings of the tests; loopback may be called back.
func Settings() config.Config {
	return config.Config{
		HTTPAddr: "127.0.0.1:0", WebUI: "http://ui.test", SecretKey: secretKey, LogLevel: "error",
		CallbackAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		PolicyTTL:     100 * time.Millisecond, StopTimeout: 5 * time.Second,
	}
}

// StartWorker starts a worker that outlives single tests. Tests that share a Temporal share
// its worker too: a worker that stopped with its test would cut off the attempts of others.
func StartWorker(addr string) (stop func(), err error) {
	inner, err := open(context.Background(), roles.Settings{Config: Settings(), Temporal: at(addr)}, io.Discard)
	if err != nil {
		return nil, err
	}
	workers, err := inner.StartWorker()
	if err != nil {
		return nil, err
	}
	return func() {
		workers.Stop()
		inner.Close()
	}, nil
}

func open(ctx context.Context, s roles.Settings, log io.Writer) (*roles.App, error) {
	s.Version = "test"
	s.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	return roles.Open(ctx, s)
}

func at(addr string) client.Options {
	return client.Options{HostPort: addr, Namespace: client.DefaultNamespace}
}

// Open opens an environment on the Temporal at addr, without a worker.
func Open(t testing.TB, addr string) *Env { return OpenWith(t, addr, Settings()) }

// OpenWith opens an environment with settings.
func OpenWith(t testing.TB, addr string, settings config.Config) *Env {
	t.Helper()
	return openOn(t, roles.Settings{Config: settings, Temporal: at(addr)})
}

// OpenThrough opens an environment whose calls to Temporal go through an interceptor.
func OpenThrough(t testing.TB, addr string, settings config.Config, interceptor grpc.UnaryClientInterceptor) *Env {
	t.Helper()
	options := at(addr)
	options.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)}
	return openOn(t, roles.Settings{Config: settings, Temporal: options})
}

// Try opens an environment, through an interceptor, and closes it at once.
func Try(ctx context.Context, addr string, interceptor grpc.UnaryClientInterceptor, log io.Writer) error {
	options := at(addr)
	options.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)}
	inner, err := open(ctx, roles.Settings{Config: Settings(), Temporal: options}, log)
	if err == nil {
		inner.Close()
	}
	return err
}

func openOn(t testing.TB, s roles.Settings) *Env {
	t.Helper()
	inner, err := open(t.Context(), s, t.Output())
	for until := time.Now().Add(Patience); err != nil && time.Now().Before(until); { // a busy Temporal may not answer in time
		inner, err = open(t.Context(), s, t.Output())
	}
	require.NoError(t, err)
	api, err := inner.API()
	require.NoError(t, err)
	handler := api.(interface{ Handler() http.Handler }).Handler()
	server := httptest.NewServer(handler)
	e := &Env{t: t, inner: inner, URL: server.URL, Engine: inner.Engine, Client: inner.Client, close: sync.OnceFunc(inner.Close)}
	t.Cleanup(func() {
		server.Close()
		e.StopWorker()
		e.close()
	})
	return e
}

// Stopping begins to stop the gateway's work apart from HTTP, which is still answered. It is
// closed when that work has ended.
func (e *Env) Stopping() (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.close()
	}()
	return done
}

// For returns the same environment for a part of its test.
func (e *Env) For(t testing.TB) *Env {
	part := *e
	part.t = t
	return &part
}

// StartWorker starts a worker of this environment.
func (e *Env) StartWorker() {
	workers, err := e.inner.StartWorker()
	require.NoError(e.t, err)
	e.workers = workers
}

// StartWorkerBeside starts a worker of this environment that gets timers due soon as they
// are booked.
func (e *Env) StartWorkerBeside() {
	workers, err := e.inner.StartWorkerBeside()
	require.NoError(e.t, err)
	e.workers = workers
}

// StopWorker stops the worker, if one runs.
func (e *Env) StopWorker() {
	if e.workers != nil {
		e.workers.Stop()
		e.workers = nil
	}
}
