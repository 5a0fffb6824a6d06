package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/netlimit"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Telemetry counts requests and serves the metrics.
type Telemetry interface {
	// Requested counts a request. The route is a template, empty for none; the method
	// is what the caller sent, anything.
	Requested(method, route string, status int, took time.Duration)
	Handler() http.Handler
}

// Options is what a [Server] needs.
type Options struct {
	Timers Timers
	// Payloads may be nil in tests that ask for none.
	Payloads Payloads
	Stats    Stats
	// Forecasts may be nil in tests that ask for none.
	Forecasts Forecasts
	Series    Series
	// Pauser may be nil in tests that pause nothing.
	Pauser   Pauser
	Failures Failures
	Attempts Attempts
	// Histories may be nil in tests that ask for none.
	Histories Histories
	Policies  Policies
	// Deliveries take what receivers say later.
	Deliveries Deliveries
	// Emergencies pause callbacks.
	Emergencies Emergencies
	// Bulk does the same with all timers that a filter finds.
	Bulk Bulk
	// Dispatches call many items back at one rate.
	Dispatches       Dispatches
	DispatchControls DispatchControls
	// Ready reports whether a timer that is booked now would ring.
	Ready func(context.Context) error
	// Leave ends the waits of all callers for an effect, when the server stops.
	Leave func()

	// Streams has the receivers that are connected; nil where nobody can connect.
	// LivePolicy is the policy of a business type as far as it is known at hand.
	Streams *stream.Hub
	// Gateway is the name of this process among others, and AnswerElsewhere brings an
	// answer to a ring that another one gave there.
	Gateway         string
	AnswerElsewhere func(ctx context.Context, answer delivery.RingAnswer) error
	LivePolicy      func(ctx context.Context, businessType string) (policy.Policy, error)

	Telemetry Telemetry
	Logger    *slog.Logger
	// Version is that of the program, told to whom is let in.
	Version string
	// Audit keeps a record of each call that changes something; nil for none.
	Audit *audit.Log
	// Auth says who calls; without one, nobody is let in.
	Auth *auth.Authenticator
	// Console answers beneath /console/, and makes its calls by the API's own handler; nil for none.
	Console func(calls http.Handler) http.Handler
	// TLS is what Serve speaks; nil for none.
	TLS *tls.Config
	// Note says what /readyz shall tell beside what the API knows itself; nil for nothing.
	Note func() string
	// Reach judges the destinations beside what cannot be read of a body; the engine
	// judges what can be read. Its zero value allows every address and knows no broker.
	Reach delivery.Reach
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
	timers   Timers
	payloads Payloads
	series   Series
	pauser   Pauser
	failures Failures
	attempts Attempts
	// histories may be nil in tests that ask for none.
	histories Histories
	policies  Policies
	streams   *receivers
	// emergencies may be nil in tests that ask for none.
	emergencies Emergencies
	forecasts   Forecasts
	leave       func()
	large       large
	// scopes are those of all calls of the contract.
	scopes map[call]*scope

	reach delivery.Reach
	auth  *auth.Authenticator
	audit *audit.Log
	tls   *tls.Config
	ready *readiness
	http  *http.Server
}

// New returns a server. It listens to nothing before Serve.
func New(options Options) *Server {
	authenticator := options.Auth
	if authenticator == nil {
		authenticator = &auth.Authenticator{}
	}
	s := &Server{
		timers: options.Timers, payloads: options.Payloads, series: options.Series, pauser: options.Pauser, failures: options.Failures, attempts: options.Attempts, histories: options.Histories, policies: options.Policies,
		emergencies: options.Emergencies, forecasts: options.Forecasts, leave: options.Leave, large: newLarge(), reach: options.Reach,
		auth: authenticator, audit: options.Audit, tls: options.TLS, ready: newReadiness(options.Ready, options.Emergencies, options.Note),
	}
	s.streams = newReceivers(options)
	e := echo.New()
	contract := newRoutes(e)
	s.scopes = contract.scopes
	e.HTTPErrorHandler, e.JSONSerializer = answering(options.Reach), serializer{}
	e.IPExtractor = clientAddress(options.TrustedProxies)
	e.Use(ownRequestID, middleware.RequestID(), record(options), auditing(options.Audit, contract.scopes), recoverPanic, checkFraming, tellOfTLS, s.refusePages, s.authenticate,
		contract.authorize, contract.acceptIdempotencyKey, acceptConditions, acceptBody, beginning(options.Audit), headAsGet(e.Router()))
	s.operations(e, options)
	mountConsole(e, options.Console)
	s.timerRoutes(contract.under(timersPath))
	newBulkRoutes(options.Bulk, options.Reach).add(contract.under(bulkPath))
	dispatchRoutes{
		large: s.large, dispatches: options.Dispatches, controls: options.DispatchControls, reach: options.Reach,
		followed: newFollowed(s.ready.left, options.Dispatches),
	}.add(contract.under(dispatchesPath))
	deliveryRoutes{options.Deliveries}.add(contract.under(deliveriesPath))
	s.policyRoutes(contract.under(versionPrefix + "policies"))
	s.streams.add(contract.under(streamsPath))
	s.emergencyRoutes(contract.under(emergencyPath))
	s.accessRoutes(contract)
	contract.get(statsPath, viewing(named, noPayloads), statsRoute(options.Stats))
	contract.get(forecastPath, viewing(named, noPayloads), s.forecast)
	recurrenceRoutes(contract.under(versionPrefix + "recurrences"))
	s.http = &http.Server{
		Handler: e, ReadHeaderTimeout: tuning.ReadHeaderTimeout, ReadTimeout: tuning.ReadTimeout, WriteTimeout: kernel.MaxWait + tuning.WriteSlack,
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
	listener = netlimit.Listener(listener, tuning.MaxConnections)
	if s.tls != nil {
		listener = tls.NewListener(listener, s.tls)
	}
	if err := s.http.Serve(framingListener{listener}); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Shutdown stops accepting, then finishes what it has begun. Callers that wait
// for an effect are answered at once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.ready.leave()
	s.leave()
	s.streams.hub.Leave()
	err := s.http.Shutdown(ctx) // it does not know of those that are WebSockets by now
	return errors.Join(err, s.streams.wait(ctx))
}
