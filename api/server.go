package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/timer"
)

// Engine is what the front door asks of the engine room.
type Engine interface {
	Add(ctx context.Context, r engine.Request) (timer.View, bool, error)
	Upsert(ctx context.Context, r engine.Request, wait time.Duration) (timer.View, engine.Effect, error)
	Amend(ctx context.Context, r engine.Request, wait time.Duration) (timer.View, engine.Effect, error)
	Fire(ctx context.Context, key timer.Key, wait time.Duration) (timer.View, engine.Effect, error)
	Cancel(ctx context.Context, key timer.Key, wait time.Duration) (timer.View, engine.Effect, error)
	Redeliver(ctx context.Context, key timer.Key) (timer.View, error)
	Get(ctx context.Context, key timer.Key) (timer.View, error)
	List(ctx context.Context, r engine.PageRequest) (engine.Page, error)

	PutPolicy(ctx context.Context, change engine.PolicyChange) (timer.Policy, bool, error)
	StoredPolicy(ctx context.Context, businessType string) (timer.Policy, error)
	Policies(ctx context.Context) ([]timer.Policy, error)
	DeletePolicy(ctx context.Context, businessType, author string) error

	Ready(ctx context.Context) error
	Leave()
}

// Telemetry counts requests and serves the metrics.
type Telemetry interface {
	Requested(method, route, status string, took time.Duration)
	Handler() http.Handler
}

// Options is what a [Server] needs.
type Options struct {
	Engine    Engine
	Telemetry Telemetry
	Logger    *slog.Logger
	// Keys admit clients; without any, everybody who can connect is let in.
	Keys []Key
}

// versionPrefix is what every call of the contract begins with.
const versionPrefix = "/v1/"

// Server is the HTTP API.
type Server struct {
	engine Engine
	keys   []Key
	ready  *readiness
	http   *http.Server
}

// The time limits of a connection. A client that is slower holds nobody up.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = engine.MaxWait + 15*time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
)

// New returns a server. It listens to nothing before Serve.
func New(options Options) *Server {
	s := &Server{engine: options.Engine, keys: options.Keys, ready: &readiness{probe: options.Engine.Ready}}
	e := echo.New()
	e.HTTPErrorHandler = answerError
	e.Use(middleware.RequestID(), record(options), recoverPanic, s.authenticate)
	s.operations(e, options.Telemetry)
	s.timers(e.Group(versionPrefix + "timers"))
	s.policies(e.Group(versionPrefix + "policies"))
	s.http = &http.Server{
		Handler: e, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(options.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Handler is the API without a listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers until Shutdown.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.http.Serve(listener); err != http.ErrServerClosed {
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
