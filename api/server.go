package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// Engine is what the front door asks of the engine room.
type Engine interface {
	Add(ctx context.Context, r engine.Request) (timer.View, bool, error)
	Upsert(ctx context.Context, r engine.Request, wait time.Duration) (timer.View, engine.Effect, error)
	Amend(ctx context.Context, r engine.Request, wait time.Duration) (timer.View, engine.Effect, error)
	Fire(ctx context.Context, t engine.Target) (timer.View, engine.Effect, error)
	Cancel(ctx context.Context, t engine.Target) (timer.View, engine.Effect, error)
	Redeliver(ctx context.Context, key timer.Key) (timer.View, error)
	Pause(ctx context.Context, t engine.Target, pause timer.Pause) (timer.View, engine.Effect, error)
	Upcoming(ctx context.Context, key timer.Key, count int) ([]timer.Instant, error)
	Occurrences(ctx context.Context, key timer.Key, size int, token []byte) (engine.Occurrences, error)
	Get(ctx context.Context, key timer.Key) (timer.View, error)
	List(ctx context.Context, r engine.PageRequest) (engine.Page, error)

	StartRedelivery(ctx context.Context, order timer.Redelivery) (timer.RedeliveryView, error)
	Redelivery(ctx context.Context, id string) (timer.RedeliveryView, error)
	Redeliveries(ctx context.Context, r engine.RedeliveriesRequest) ([]timer.RedeliveryView, []byte, error)
	StopRedelivery(ctx context.Context, id string, wait time.Duration) (timer.RedeliveryView, error)

	PutPolicy(ctx context.Context, change engine.PolicyChange) (engine.PolicyResult, error)
	StoredPolicy(ctx context.Context, businessType string) (timer.Policy, error)
	Policies(ctx context.Context) ([]timer.Policy, error)
	PolicyVersions(ctx context.Context, businessType string) ([]engine.PolicyVersion, error)
	DeletePolicy(ctx context.Context, deletion engine.PolicyDeletion) error
	LiftBackPressure(ctx context.Context, businessType string) error

	Ready(ctx context.Context) error
	Leave()
}

// Telemetry counts requests and serves the metrics.
type Telemetry interface {
	// Requested counts a request. The route is a template, empty for none; the method
	// is what the caller sent, anything.
	Requested(method, route string, status int, took time.Duration)
	Handler() http.Handler
}

// Options is what a [Server] needs.
type Options struct {
	Engine    Engine
	Telemetry Telemetry
	Logger    *slog.Logger
	// Auth says who calls; without one, nobody is let in.
	Auth *auth.Authenticator
	// Reach judges the addresses in URLs beside what cannot be read of a body; nil for
	// none. The engine judges what can be read.
	Reach timer.Reach
	// MetricsElsewhere leaves /metrics to a server on an address of its own.
	MetricsElsewhere bool
	// TrustedProxies are the networks whose word on the client's address, in
	// X-Forwarded-For, is believed.
	TrustedProxies []netip.Prefix
}

// versionPrefix is what every call of the contract begins with.
const versionPrefix = "/v1/"

// Server is the HTTP API.
type Server struct {
	engine Engine
	reach  timer.Reach
	auth   *auth.Authenticator
	ready  *readiness
	http   *http.Server
}

// New returns a server. It listens to nothing before Serve.
func New(options Options) *Server {
	authenticator := options.Auth
	if authenticator == nil {
		authenticator = &auth.Authenticator{}
	}
	s := &Server{engine: options.Engine, reach: options.Reach, auth: authenticator, ready: newReadiness(options.Engine.Ready)}
	e := echo.New()
	e.HTTPErrorHandler = answerError
	e.IPExtractor = clientAddress(options.TrustedProxies)
	e.Use(ownRequestID, middleware.RequestID(), record(options), recoverPanic, checkFraming, s.authenticate,
		authorize, onlyWhereKnown, onlyWhereConditional, headAsGet(e.Router()))
	s.operations(e, options)
	s.timers(e.Group(timersPath))
	s.policies(e.Group(versionPrefix + "policies"))
	recurrences(e.Group(versionPrefix + "recurrences"))
	s.redeliveries(e.Group(redeliveriesPath))
	s.http = &http.Server{
		Handler: e, ReadHeaderTimeout: tuning.ReadHeaderTimeout, ReadTimeout: tuning.ReadTimeout, WriteTimeout: engine.MaxWait + tuning.WriteSlack,
		IdleTimeout: tuning.IdleTimeout, MaxHeaderBytes: tuning.HeaderBytes, ConnContext: withFraming,
		// Its answer to OPTIONS * would pass by the log and the metrics.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(options.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Handler is the API without a listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers until Shutdown.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.http.Serve(framingListener{listener}); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Shutdown stops accepting, then finishes what it has begun. Callers that wait
// for an effect are answered at once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.ready.leave()
	s.engine.Leave()
	return s.http.Shutdown(ctx)
}
