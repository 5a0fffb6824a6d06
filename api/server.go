package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/access"
	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/deliveries"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/emergencies"
	"github.com/wakecall/wakecall/api/forecasts"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/jobs"
	"github.com/wakecall/wakecall/api/objectives"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/outcomes"
	"github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/processes"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/trails"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/netlimit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Options is what a [Server] needs: what each room of calls asks of the engine, and what all of
// them share.
type Options struct {
	Timers   timers.Options
	Policies policies.Policies
	// Emergencies pause callbacks; nil in tests that pause none.
	Emergencies emergencies.Emergencies
	// Bulk does the same with all timers that a filter finds.
	Bulk jobs.Bulk
	// Dispatches call many items back at one rate.
	Dispatches dispatches.Options
	// Deliveries take what receivers say later.
	Deliveries deliveries.Deliveries
	Streams    streams.Options
	// Forecasts may be nil in tests that ask for none.
	Forecasts  forecasts.Forecasts
	Reports    Reports
	Operations operations.Options
	Front      front.Options

	// Console answers beneath /console/, and makes its calls by the API's own handler; nil for none.
	// Its streams end once stopping is done.
	Console func(stopping context.Context, api http.Handler) http.Handler
	// Reach checks the destinations in a body that has other errors, so that one answer names all. The
	// engine checks those in a valid body. Its zero value allows every address and knows no broker.
	Reach delivery.Reach
	// TLS is what Serve speaks; nil for none.
	TLS *tls.Config
	// EndWaits ends the waits of all callers for an effect, when the server stops.
	EndWaits func()
}

// Reports has the dependencies of the calls about the past and about the installation.
type Reports struct {
	Ledgers   objectives.Ledgers
	Outcomes  outcomes.Options
	Trails    trails.Options
	Processes processes.Processes
}

// Server is the HTTP API.
type Server struct {
	contract calls.Routes
	streams  *streams.Receivers
	tls      *tls.Config
	logger   *slog.Logger
	http     *http.Server
	// stop ends what waits or streams: it comes before the shutdown.
	stop func()
}

// New returns a server. It listens to nothing before Serve.
func New(options Options) *Server {
	if options.Front.Auth == nil {
		options.Front.Auth = &auth.Authenticator{}
	}
	stopping, stop := context.WithCancel(context.Background())
	e := echo.New()
	s := &Server{
		contract: calls.NewRoutes(e), tls: options.TLS, logger: options.Front.Logger,
		stop: func() { stop(); options.EndWaits() },
	}
	e.HTTPErrorHandler, e.JSONSerializer = answers.ErrorHandler(options.Reach), answers.Serializer{}
	front.Guard(e, s.contract, options.Front)

	options.Operations.Paused, options.Operations.Auth = options.Emergencies, options.Front.Auth
	options.Operations.Document, options.Operations.Stopping = OpenAPI, stopping
	operations.Register(e, options.Operations)
	operations.MountConsole(stopping, e, options.Console)
	options.Dispatches.Stopping = stopping
	s.register(options)
	s.http = listening(e, options.Front.Logger)
	return s
}

// register adds every call of the contract.
func (s *Server) register(options Options) {
	large := requests.NewLargeBodies()
	timers.Register(s.contract, options.Timers, options.Reach, large)
	policies.Register(s.contract, options.Policies, options.Reach)
	emergencies.Register(s.contract, options.Emergencies, options.Policies)
	jobs.Register(s.contract, options.Bulk, options.Reach)
	dispatches.Register(s.contract, options.Dispatches, options.Reach, large)
	deliveries.Register(s.contract, options.Deliveries)
	s.streams = streams.Register(s.contract, options.Streams)
	forecasts.Register(s.contract, options.Forecasts)
	objectives.Register(s.contract, options.Reports.Ledgers)
	outcomes.Register(s.contract, options.Reports.Outcomes)
	trails.Register(s.contract, options.Reports.Trails)
	processes.Register(s.contract, options.Reports.Processes)
	access.Register(s.contract, options.Front.Auth)
}

// listening is the server of a handler. Its limits hold for every client.
func listening(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: tuning.ReadHeaderTimeout, ReadTimeout: tuning.ReadTimeout,
		WriteTimeout: kernel.MaxWait + tuning.WriteSlack,
		IdleTimeout:  tuning.IdleTimeout, MaxHeaderBytes: tuning.HeaderBytes, ConnContext: front.WithFraming,
		// Its answer to OPTIONS * would pass by the log and the metrics.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// Handler is the API without a listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers until Shutdown.
func (s *Server) Serve(listener net.Listener) error {
	listener = netlimit.Listener(listener, tuning.MaxConnections)
	if s.tls != nil {
		listener = tls.NewListener(listener, s.tls)
	}
	if err := s.http.Serve(front.FramingListener{Listener: listener, Logger: s.logger}); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Shutdown stops accepting, then finishes what it has begun. Callers that wait
// for an effect are answered at once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	s.streams.Drain()
	err := s.http.Shutdown(ctx) // it does not know of those that are WebSockets by now
	return errors.Join(err, s.streams.Wait(ctx))
}
