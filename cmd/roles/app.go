package roles

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	httpsend "github.com/wakecall/wakecall/activities/send/http"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/ledger"
	"github.com/wakecall/wakecall/internal/completion"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/processid"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
	"github.com/wakecall/wakecall/worker"
)

// App is the state that the roles share: settings, telemetry, and one connection to Temporal.
type App struct {
	Config    config.Config
	Logger    *slog.Logger
	Telemetry *observe.Telemetry
	reporters reporters
	Client    client.Client
	Engine    *engine.Engine
	Program
	box     *seal.Box
	preload preload
	audit   records
	brokers []config.Broker
	signIn  signIn
	found   found
	closing []func() // the closers of the transports
	// endStreams ends the rings at connected receivers, before [App.Close] does.
	endStreams func()
}

// Program is what runs.
type Program struct {
	Version string
	// Identity is unique to this process; Temporal shows it.
	Identity string
	// Command is how its command line is called here; "" for wakecall.
	Command string
}

// preload are the timers that a worker of this process holds, and the limit of their records.
type preload struct {
	*worker.Preload
	tasks *completion.Limiter
}

// Settings is the input of [Open].
type Settings struct {
	Config  config.Config
	Version string
	// Command is how users on this machine call the command line; "" for wakecall.
	Command string
	Logger  *slog.Logger
	// Temporal configures the connection to Temporal; see [FromEnvironment].
	Temporal client.Options
	// Limiter counts bookings; if nil, the process counts its own.
	Limiter bookings.Limiter
}

// configFile names the variable of Temporal's configuration file.
const configFile = "TEMPORAL_CONFIG_FILE"

// FromEnvironment configures the connection to Temporal with the variables and files of the
// temporal CLI: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_… and
// temporal.toml.
func FromEnvironment() (client.Options, error) {
	if file := os.Getenv(configFile); file != "" { // the SDK does without one that is not there
		if _, err := os.Stat(file); err != nil {
			return client.Options{}, fmt.Errorf("%s: %w", configFile, err)
		}
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return options, fmt.Errorf("the connection to Temporal (TEMPORAL_…, temporal.toml): %w", err)
	}
	return options, nil
}

// complete adds the settings common to all processes.
func (s *Settings) complete(telemetry *observe.Telemetry) {
	s.Temporal.Identity = processid.New()
	if s.Temporal.HostPort == "" {
		s.Temporal.HostPort = client.DefaultHostPort
	}
	if s.Temporal.Namespace == "" {
		s.Temporal.Namespace = client.DefaultNamespace
	}
	s.Temporal.WorkerHeartbeatInterval = tuning.PollersTold
	s.Temporal.Logger = log.NewStructuredLogger(s.Logger)
	s.Temporal.MetricsHandler = telemetry.SDK()
	if s.Limiter == nil {
		s.Limiter = &quota.Local{}
	}
}

// Open connects to Temporal and prepares the namespace.
func Open(ctx context.Context, s Settings) (*App, error) {
	a, err := newApp(&s)
	if err != nil {
		return nil, err
	}
	counter := ledger.NewCounter(s.Temporal.Namespace, a.Identity, func() ledger.Promising { return a.Engine.Policies })
	a.preload.tasks.Observe(counter)
	delays, err := kernel.KeepDelays()
	if err != nil {
		return nil, err
	}
	trouble := failover.NewTrouble()
	s.Temporal.ConnectionOptions = connected(s.Temporal.ConnectionOptions, trouble.DialOption(), delays, a.preload.tasks.DialOption(),
		holds.TakeOverInPlaceOfStarts(), kernel.KeepReports(), kernel.RepeatUnstored(), kernel.RefuseRepeats(), kernel.BoundEndPolls(),
		actors.Identify(), counter.DialOption())
	if a.Client, err = client.DialContext(ctx, s.Temporal); err != nil {
		return nil, fmt.Errorf("connecting to Temporal at %s: %w", s.Temporal.HostPort, err)
	}
	if err := s.prepare(ctx, a, counter, trouble); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// newApp returns the state of a process that is not connected to Temporal yet, and completes its
// settings.
func newApp(s *Settings) (*App, error) {
	box, err := seal.New(s.Config.SecretKey)
	if err != nil {
		return nil, err
	}
	telemetry, err := observe.NewTelemetry(s.Version)
	if err != nil {
		return nil, err
	}
	reporters := report(telemetry)
	s.complete(telemetry)
	completions, err := completion.New()
	if err != nil {
		return nil, err
	}
	return &App{
		Config: s.Config, Logger: s.Logger, Telemetry: telemetry, reporters: reporters,
		Program: Program{Version: s.Version, Identity: s.Temporal.Identity, Command: s.Command}, box: box,
		preload: preload{worker.NewPreload(completions), completions},
	}, nil
}

// prepare makes the engine of a connected process, starts what runs in every role, and prepares the
// namespace.
func (s Settings) prepare(ctx context.Context, a *App, counter *ledger.Counter, trouble *failover.Trouble) (err error) {
	if a.brokers, err = config.ReadBrokers(a.Config.Brokers); err != nil {
		return fmt.Errorf("WAKECALL_BROKERS: %w", err)
	}
	if a.signIn, err = a.openSignIn(); err != nil {
		return err
	}
	a.Engine = engine.New(engine.Config{
		Client: a.Client, Namespace: s.Temporal.Namespace, Box: a.box,
		WebUI: s.Config.WebUI, PolicyTTL: s.Config.PolicyTTL, Limiter: s.Limiter,
		Reach: a.reach(),
		Failover: failover.Config{
			Worker: a.Identity, Tasks: a.preload.tasks, Trouble: trouble, Observer: deaths{a.Logger, a.Telemetry},
			Ended: processid.Ended, About: a.about,
		},
	})
	a.Telemetry.Queue(a.Engine.Timers.QueuedBookings)
	a.untilClosed(func(ctx context.Context) { counter.Run(ctx, a.Client, a.Logger) })
	a.untilClosed(a.Engine.Timers.FreeUnapplied)
	if err := a.reporters.attempts.askPrometheus(s.Config.PrometheusURL); err != nil {
		return fmt.Errorf("WAKECALL_PROMETHEUS_URL: %w", err)
	}
	return a.Engine.Namespace.Prepare(ctx)
}

// untilClosed runs something until the App is closed.
func (a *App) untilClosed(run func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	a.closing = append(a.closing, func() { stop(); running.Wait() })
}

// Close closes the connection and the exporters.
func (a *App) Close() {
	for _, end := range a.closing {
		end()
	}
	if err := a.audit.log.Close(); err != nil {
		a.Logger.Error("the audit did not stop cleanly", "error", err)
	}
	a.Client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), tuning.TelemetryDrain)
	defer cancel()
	if err := a.Telemetry.Shutdown(ctx); err != nil {
		a.Logger.Warn("telemetry did not stop cleanly", "error", err)
	}
}

// roots returns the authorities of receivers' certificates, nil for the system's.
func (a *App) roots() (*x509.CertPool, error) {
	// The system's are read at their first use, and only once. A process out of files at that
	// moment would trust no certificate for the rest of its life.
	_, _ = x509.SystemCertPool() // without roots, no call by TLS succeeds
	if a.Config.CallbackCA == "" {
		return nil, nil
	}
	bundle, err := os.ReadFile(a.Config.CallbackCA)
	if err != nil {
		return nil, fmt.Errorf("WAKECALL_CALLBACK_CA_FILE: %w", err)
	}
	roots, err := httpsend.Roots(nil, bundle)
	if err != nil {
		return nil, fmt.Errorf("WAKECALL_CALLBACK_CA_FILE: %s %w", a.Config.CallbackCA, err)
	}
	return roots, nil
}

// StartWorkerBeside starts polling in a process that also takes bookings. The worker gets timers
// that are due soon at their booking. It must precede the first booking.
func (a *App) StartWorkerBeside() (*worker.Workers, error) {
	workers, err := a.startWorker(health.Node)
	if err == nil {
		a.Engine.Timers.PreloadHere(a.preload.Preload)
	}
	return workers, err
}

// StartWorker starts polling.
func (a *App) StartWorker() (*worker.Workers, error) { return a.startWorker(health.Worker) }

// startWorker starts polling in a process that has a role.
func (a *App) startWorker(role health.Role) (*worker.Workers, error) {
	a.reporters.self.role.Store(&role)
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	sender := a.reporters.self.counted(a.sender(roots))
	attempter, err := delivery.NewAttempter(delivery.Config{
		Worker: a.Identity, Queue: worker.Queue, Runs: a.Engine.Runs, Policies: a.Engine.Policies, Opener: a.box,
		AckTokens: a.Engine.Deliveries, Observer: a.reporters.deliveries, Emergencies: a.Engine.Emergencies,
		Bulkhead: worker.NewBulkhead(tuning.FastPathSlots), Sender: sender,
		Preload: a.preload.Preload, Tasks: a.preload.tasks, Polled: a.Engine.Queues.Polled,
		Failover: a.Engine.Failover,
	})
	if err != nil {
		return nil, err
	}
	dispatcher := dispatch.New(dispatch.Config{
		Store: a.Engine.Dispatches, Policies: a.Engine.Policies, Emergencies: a.Engine.Emergencies, Opener: a.box, Sender: sender,
		Observer: a.reporters.dispatches,
	})
	workers := worker.New(worker.Options{
		Identity: a.Identity, Client: a.Client, Attempter: attempter, Dispatcher: dispatcher,
		Controller: &activities.Controller{
			Queues: a.Engine.Queues, Runs: a.Engine.Runs, Policies: a.Engine.Policies, Sender: sender, Bulks: a.Engine.Bulk,
			Turns: turns.New(tuning.JobSlots, tuning.LongTurn),
		},
		Policies: a.Engine.Policies, Queues: a.Engine.Queues, Emergencies: a.Engine.Emergencies, Reconciler: a.Engine.Reconciler,
		Alerts: a.Engine.Alerts, Failover: a.Engine.Failover,
		Observer: a.Telemetry, Logger: a.Logger, StopTimeout: a.Config.StopTimeout,
		Intervals: worker.Intervals{Policies: max(a.Config.PolicyTTL, tuning.MinPolicyInterval), Reconcile: a.Config.ReconcileInterval},
	})
	a.reporters.attempts.working.Store(true)
	return workers, workers.Start()
}
