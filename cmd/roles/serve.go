package roles

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/outcomes"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/trails"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/testrings"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/netlimit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// workerMetricsAddr is the default address of a worker's metrics.
const workerMetricsAddr = "127.0.0.1:9090"

// Server is an HTTP server.
type Server interface {
	Serve(listener net.Listener) error
	Shutdown(ctx context.Context) error
}

// API returns the role api, not yet listening.
func (a *App) API() (Server, error) {
	if err := a.openAudit(); err != nil {
		return nil, err
	}
	a.AddCheck(a.checkWorkers)
	pages, err := a.console()
	if err != nil {
		return nil, err
	}
	e := a.Engine
	return api.New(api.Options{
		Timers: timers.Options{
			Timers: e.Timers, Series: e.Series, Pauser: e.Timers, Failures: e.Failures,
			Attempts: e.Attempts, Histories: e.Histories, Stats: e.Stats, Lateness: e.Forecasts,
			Reasons: e.Timers, Reconcile: a.Config.ReconcileInterval,
		},
		Policies: policyRooms{e.Policies, e.TestRings}, Emergencies: e.Emergencies, Bulk: e.Bulk, Deliveries: e.Deliveries,
		Forecasts: e.Forecasts,
		Reports: api.Reports{
			Ledgers: e.Ledgers, Outcomes: outcomes.Options{Outcomes: e.Outcomes, Lateness: a.reporters.attempts},
			Trails: trails.Options{Records: a.audit.recent, Gateway: a.Identity}, Processes: e.Processes,
		},
		Dispatches: dispatches.Options{Dispatches: e.Dispatches, Controls: e.Dispatches, Failures: e.Dispatches},
		Streams: streams.Options{
			Hub: a.streams(), Policy: e.Policies.Policy, Gateway: a.Identity, AnswerElsewhere: e.Streams.Answer,
		},
		Operations: operations.Options{
			Ready: e.Namespace.Ready, Note: a.signIn.fault, Checks: a.checks, Metrics: a.metricsBeside(), Version: a.Version,
		},
		Front: front.Options{
			Telemetry: a.Telemetry, Logger: a.Logger, Audit: a.audit.log, Auth: a.signIn.Authenticator, TrustedProxies: a.Config.Proxies,
		},
		Console: pages, Reach: a.reach(), TLS: a.signIn.tls(), EndWaits: e.EndWaits,
	}), nil
}

// metricsBeside returns the metrics beside the API. It is nil where a server of their own has them.
func (a *App) metricsBeside() http.Handler {
	if a.Config.MetricsAddr != "" {
		return nil
	}
	return a.Telemetry.Handler()
}

// metrics returns a server of metrics and liveness only.
func (a *App) metrics(addr string) Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Telemetry.Handler())
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return plain{&http.Server{
		Handler: metricsRule(addr).Guard(mux), ReadHeaderTimeout: tuning.ReadHeaderTimeout, ReadTimeout: tuning.ReadTimeout,
		WriteTimeout: tuning.WriteSlack,
		IdleTimeout:  tuning.IdleTimeout, MaxHeaderBytes: tuning.HeaderBytes,
	}}
}

// metricsRule returns the rule for readers of the metrics. Beyond loopback, collectors call a
// worker by any name, and the network must keep others out.
func metricsRule(addr string) door.Rule {
	loopback, err := config.Loopback(addr)
	public := err == nil && !loopback
	return door.Rule{Public: public, AnyName: public}
}

type plain struct{ *http.Server }

// Serve answers until Shutdown.
func (p plain) Serve(listener net.Listener) error {
	if err := p.Server.Serve(netlimit.Listener(listener, tuning.MetricsConnections)); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// ServeAPI serves the API, and the metrics on their own address if there is one, until ctx is
// done or one of them fails. It calls started with the API's address.
func (a *App) ServeAPI(ctx context.Context, started func(net.Addr)) error {
	open, err := listenAt(a.Config)
	if err != nil {
		return err
	}
	defer open.close()
	server, err := a.API()
	if err != nil {
		return err
	}
	defer func() { go a.endStreams() }() // while the worker of a node stops too
	defer a.giveSigns(ctx)()
	ctx, cancel := context.WithCancel(ctx)
	var counting sync.WaitGroup
	defer counting.Wait()
	defer cancel()
	counting.Go(func() { a.Engine.Forecasts.Run(ctx) })
	a.startCanary(ctx, &counting)
	counting.Go(func() { a.Engine.Outcomes.Run(ctx) })
	a.signIn.refreshKeys(ctx, &counting)
	if open.metrics == nil {
		return serve(ctx, server, open.api, started)
	}
	beside := make(chan error, 1)
	go func() {
		defer cancel()
		beside <- serve(ctx, a.metrics(a.Config.MetricsAddr), open.metrics, func(net.Addr) {})
	}()
	err = serve(ctx, server, open.api, started)
	cancel()
	return errors.Join(err, <-beside)
}

// ServeMetrics serves the metrics of a process without an API, until ctx is done.
func (a *App) ServeMetrics(ctx context.Context, started func(net.Addr)) error {
	addr := a.Config.MetricsAddr
	if addr == "" {
		addr = workerMetricsAddr
	}
	listener, err := listen(metricsSetting, addr)
	if err != nil {
		return err
	}
	return serve(ctx, a.metrics(addr), listener, started)
}

const (
	httpSetting    = "WAKECALL_HTTP_ADDR"
	metricsSetting = "WAKECALL_METRICS_ADDR"
)

// listeners are open before a start is announced, since an address may be taken. metrics is nil where the
// API has the metrics.
type listeners struct{ api, metrics net.Listener }

func listenAt(c config.Config) (l listeners, err error) {
	if l.api, err = listen(httpSetting, c.HTTPAddr); err != nil || c.MetricsAddr == "" {
		return l, err
	}
	if l.metrics, err = listen(metricsSetting, c.MetricsAddr); err != nil {
		l.close()
	}
	return l, err
}

// close closes what a server has not closed.
func (l listeners) close() {
	for _, listener := range []net.Listener{l.api, l.metrics} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// listen listens at the address of a setting.
func listen(setting, addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return listener, nil
}

// serve answers until ctx is done. It then stops accepting and finishes the requests in progress. It calls
// started with the address.
func serve(ctx context.Context, server Server, listener net.Listener, started func(net.Addr)) error {
	started(listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.ServerDrain)
	defer cancel()
	return errors.Join(server.Shutdown(stopping), <-failed)
}

// policyRooms has the dependencies of the calls on policies.
type policyRooms struct {
	*policies.Policies
	*testrings.TestRings
}
