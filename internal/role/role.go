// Package role builds the two roles of Wakecall, api and worker, from their
// parts, and starts and stops them. The production binary runs one of them,
// the standalone one both.
package role

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/completion"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/worker"
)

// House is what both roles share: settings, telemetry, and one connection to
// Temporal.
type House struct {
	Config    config.Config
	Version   string
	Logger    *slog.Logger
	Telemetry *observe.Telemetry
	Client    client.Client
	Engine    *engine.Engine
	// Identity is unique to this process; Temporal shows it.
	Identity    string
	box         *seal.Box
	completions *completion.Limiter
	redis       io.Closer // nil without Redis
}

// Settings is what a House is opened with.
type Settings struct {
	Config  config.Config
	Version string
	Logger  *slog.Logger
	// Temporal says how to reach Temporal; see [FromEnvironment].
	Temporal client.Options
}

// FromEnvironment reads how to reach Temporal with the variables and files of
// the temporal CLI: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
// TEMPORAL_TLS_… and temporal.toml.
func FromEnvironment() (client.Options, error) {
	return envconfig.LoadDefaultClientOptions()
}

// Open connects to Temporal and makes the namespace ready.
func Open(ctx context.Context, s Settings) (*House, error) {
	box, err := seal.New(s.Config.SecretKey)
	if err != nil {
		return nil, err
	}
	telemetry, err := observe.NewTelemetry(s.Version)
	if err != nil {
		return nil, err
	}
	s.Temporal.Identity = "wakecall-" + uuid.NewString()
	if s.Temporal.HostPort == "" {
		s.Temporal.HostPort = client.DefaultHostPort
	}
	s.Temporal.Logger = log.NewStructuredLogger(s.Logger)
	s.Temporal.MetricsHandler = telemetry.SDK()
	if s.Temporal.Namespace == "" {
		s.Temporal.Namespace = client.DefaultNamespace
	}
	completions, err := completion.New()
	if err != nil {
		return nil, err
	}
	s.Temporal.ConnectionOptions = connected(s.Temporal.ConnectionOptions, completions.DialOption(), engine.KeepReports())
	temporal, err := client.DialContext(ctx, s.Temporal)
	if err != nil {
		return nil, fmt.Errorf("connecting to Temporal at %s: %w", s.Temporal.HostPort, err)
	}
	h := &House{
		Config: s.Config, Version: s.Version, Logger: s.Logger, Telemetry: telemetry, Client: temporal,
		Identity: s.Temporal.Identity, box: box, completions: completions,
	}
	limiter, err := h.limiter()
	if err != nil {
		h.Close()
		return nil, err
	}
	h.Engine = engine.New(engine.Config{
		Client: temporal, Namespace: s.Temporal.Namespace, Box: box,
		WebUI: s.Config.WebUI, PolicyTTL: s.Config.PolicyTTL, Limiter: limiter,
		Reach: activities.Reach(h.Config.CallbackAllow),
	})
	telemetry.Queue(h.Engine.QueuedBookings)
	if err := h.Engine.Prepare(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// limiter counts bookings in Redis where there is one, and else by itself.
func (h *House) limiter() (engine.Limiter, error) {
	if h.Config.RedisURL == "" {
		return &quota.Local{}, nil
	}
	shared, err := quota.NewShared(h.Config.RedisURL, h.Logger)
	if err != nil {
		return nil, err
	}
	h.redis = shared
	return shared, nil
}

// Close ends the connection and the exporters.
func (h *House) Close() {
	h.Client.Close()
	if h.redis != nil {
		if err := h.redis.Close(); err != nil {
			h.Logger.Warn("redis did not end cleanly", "error", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.Telemetry.Shutdown(ctx); err != nil {
		h.Logger.Warn("telemetry did not end cleanly", "error", err)
	}
}

// minPolicyInterval keeps a worker from listing the policies all the time: each
// listing reads all of them.
const minPolicyInterval = time.Second

// roots are who may sign the certificate of a receiver, nil for the system's.
func (h *House) roots() (*x509.CertPool, error) {
	if h.Config.CallbackCA == "" {
		return nil, nil
	}
	bundle, err := os.ReadFile(h.Config.CallbackCA)
	if err != nil {
		return nil, fmt.Errorf("WAKECALL_CALLBACK_CA_FILE: %w", err)
	}
	roots, err := activities.Roots(nil, bundle)
	if err != nil {
		return nil, fmt.Errorf("WAKECALL_CALLBACK_CA_FILE: %s %w", h.Config.CallbackCA, err)
	}
	return roots, nil
}

// StartWorker begins polling.
func (h *House) StartWorker() (*worker.Workers, error) {
	roots, err := h.roots()
	if err != nil {
		return nil, err
	}
	transport := activities.NewTransport(h.Config.CallbackAllow, roots)
	caller := activities.NewCaller(transport, h.Telemetry.Tracer(), "Wakecall/"+h.Version, h.Telemetry.Resent)
	ringer, err := activities.NewRinger(activities.Config{
		Worker: h.Identity, Queue: worker.Queue, Runs: h.Engine, Policies: h.Engine, Opener: h.box,
		Observer: h.Telemetry, Bulkhead: worker.NewBulkhead(worker.FastPathSlots), Caller: caller,
		Hold: worker.NewPreload(h.completions), Tasks: h.completions,
	})
	if err != nil {
		return nil, err
	}
	workers := worker.New(worker.Options{
		Identity: h.Identity, Client: h.Client, Ringer: ringer,
		Controller: &activities.Controller{Queues: h.Engine, Policies: h.Engine, Caller: caller, Failures: h.Engine},
		Policies:   h.Engine, Engine: h.Engine, Observer: h.Telemetry, Logger: h.Logger, ReconcileInterval: h.Config.ReconcileInterval,
		PolicyInterval: max(h.Config.PolicyTTL, minPolicyInterval), StopTimeout: h.Config.StopTimeout,
	})
	return workers, workers.Start()
}
