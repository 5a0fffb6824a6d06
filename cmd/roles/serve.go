package roles

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/wakecall/wakecall/api"
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
	pages, err := a.console()
	if err != nil {
		return nil, err
	}
	streams := a.streams()
	return api.New(api.Options{
		Timers: a.Engine.Timers, Payloads: a.Engine.Timers, Stats: a.Engine.Stats, Forecasts: a.Engine.Forecasts, Series: a.Engine.Series, Pauser: a.Engine.Timers, Failures: a.Engine.Failures, Attempts: a.Engine.Attempts, Histories: a.Engine.Histories,
		Policies: a.Engine.Policies, Bulk: a.Engine.Bulk, Emergencies: a.Engine.Emergencies,
		Deliveries: a.Engine.Deliveries, Dispatches: a.Engine.Dispatches, DispatchControls: a.Engine.Dispatches, Ready: a.Engine.Namespace.Ready, Leave: a.Engine.EndWaits,
		Telemetry: a.Telemetry, Logger: a.Logger, Auth: a.signIn.Authenticator, TLS: a.signIn.tls(), Note: a.signIn.note, MetricsElsewhere: a.Config.MetricsAddr != "",
		TrustedProxies: a.Config.Proxies, Reach: a.reach(), Streams: streams, Gateway: a.Identity, AnswerElsewhere: a.Engine.Streams.Answer, LivePolicy: a.Engine.Policies.Policy,
		Audit: a.audit, Console: pages, Version: a.Version,
	}), nil
}

// metrics returns a server of metrics and liveness only.
func (a *App) metrics(addr string) Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Telemetry.Handler())
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return plain{&http.Server{
		Handler: metricsRule(addr).Guard(mux), ReadHeaderTimeout: tuning.ReadHeaderTimeout, ReadTimeout: tuning.ReadTimeout, WriteTimeout: tuning.WriteSlack,
		IdleTimeout: tuning.IdleTimeout, MaxHeaderBytes: tuning.HeaderBytes,
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
	server, err := a.API()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var counting sync.WaitGroup
	defer counting.Wait()
	defer cancel()
	counting.Go(func() { a.Engine.Forecasts.Run(ctx) })
	a.signIn.keep(ctx, &counting)
	if a.Config.MetricsAddr == "" {
		return serve(ctx, server, a.Config.HTTPAddr, started)
	}
	beside := make(chan error, 1)
	go func() {
		defer cancel()
		beside <- serve(ctx, a.metrics(a.Config.MetricsAddr), a.Config.MetricsAddr, func(net.Addr) {})
	}()
	err = serve(ctx, server, a.Config.HTTPAddr, started)
	cancel()
	return errors.Join(err, <-beside)
}

// ServeMetrics serves the metrics of a process without an API, until ctx is done.
func (a *App) ServeMetrics(ctx context.Context, started func(net.Addr)) error {
	addr := a.Config.MetricsAddr
	if addr == "" {
		addr = workerMetricsAddr
	}
	return serve(ctx, a.metrics(addr), addr, started)
}

// serve listens on addr and answers until ctx is done. It then stops accepting and finishes the
// requests in progress. It calls started with the address.
func serve(ctx context.Context, server Server, addr string, started func(net.Addr)) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
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
