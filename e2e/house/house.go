// Package house runs the whole of Wakecall in a test's process, on a real
// Temporal server, with parts that can be stopped and started.
package house

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/role"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/standalone/embedded"
	"github.com/wakecall/wakecall/worker"
)

// Temporal starts a real server on files that need not survive the test.
func Temporal(dir string) (addr string, stop func(), err error) {
	return TemporalWith(dir, nil, 24*time.Hour)
}

// TemporalWith starts one with a dynamic configuration of its own, unless that is nil, that
// keeps finished timers so long.
func TemporalWith(dir string, tuning []byte, retention time.Duration) (addr string, stop func(), err error) {
	addr = Addr()
	server, err := embedded.Start(embedded.Options{
		Addr: addr, DataDir: dir, Namespace: client.DefaultNamespace, Retention: retention, Shards: 4,
		Synchronous: "off", SearchAttributes: engine.SearchAttributes(), Tuning: tuning,
	})
	if err != nil {
		return "", nil, err
	}
	return addr, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
	}, nil
}

// House is a running Wakecall: API and, unless it was stopped, worker.
type House struct {
	t       testing.TB
	inner   *role.House
	workers *worker.Workers

	// URL is the API's.
	URL    string
	Engine *engine.Engine
	Client client.Client
}

// secretKey is one for all houses: they share a Temporal.
var secretKey = seal.NewKey()

// Settings that the tests run with; loopback may be called back.
func Settings() config.Config {
	return config.Config{
		HTTPAddr: "127.0.0.1:0", WebUI: "http://ui.test", SecretKey: secretKey, LogLevel: "error",
		CallbackAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		PolicyTTL:     100 * time.Millisecond, StopTimeout: 5 * time.Second,
	}
}

// StartWorker starts a worker that outlives single tests. Tests that share a
// Temporal share its worker too: one that stopped with its test would cut off
// the attempts of others.
func StartWorker(addr string) (stop func(), err error) {
	inner, err := open(context.Background(), at(addr), Settings(), io.Discard)
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

func open(ctx context.Context, temporal client.Options, settings config.Config, log io.Writer) (*role.House, error) {
	return role.Open(ctx, role.Settings{
		Config: settings, Version: "test",
		Logger:   slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError})),
		Temporal: temporal,
	})
}

func at(addr string) client.Options {
	return client.Options{HostPort: addr, Namespace: client.DefaultNamespace}
}

// Open opens a house on the Temporal at addr, without a worker of its own.
func Open(t testing.TB, addr string) *House { return OpenWith(t, addr, Settings()) }

// OpenWith opens a house with settings of its own.
func OpenWith(t testing.TB, addr string, settings config.Config) *House {
	t.Helper()
	return openOn(t, at(addr), settings)
}

// OpenThrough opens a house whose calls of Temporal go through an interceptor.
func OpenThrough(t testing.TB, addr string, settings config.Config, interceptor grpc.UnaryClientInterceptor) *House {
	t.Helper()
	temporal := at(addr)
	temporal.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(interceptor)}
	return openOn(t, temporal, settings)
}

func openOn(t testing.TB, temporal client.Options, settings config.Config) *House {
	t.Helper()
	inner, err := open(t.Context(), temporal, settings, t.Output())
	require.NoError(t, err)
	handler := inner.API().(interface{ Handler() http.Handler }).Handler()
	server := httptest.NewServer(handler)
	h := &House{t: t, inner: inner, URL: server.URL, Engine: inner.Engine, Client: inner.Client}
	t.Cleanup(func() {
		server.Close()
		h.StopWorker()
		inner.Close()
	})
	return h
}

// StartWorker starts a worker of this house.
func (h *House) StartWorker() {
	workers, err := h.inner.StartWorker()
	require.NoError(h.t, err)
	h.workers = workers
}

// StopWorker stops the worker, if one runs.
func (h *House) StopWorker() {
	if h.workers != nil {
		h.workers.Stop()
		h.workers = nil
	}
}
