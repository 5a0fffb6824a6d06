package api

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
)

// Telemetry counts requests.
type Telemetry interface {
	// Requested counts a request. The route is a template, empty for none; the method
	// is what the caller sent, anything.
	Requested(method, route string, status int, took time.Duration)
}

// FrontOptions is what stands before every call.
type FrontOptions struct {
	Telemetry Telemetry
	Logger    *slog.Logger
	// Audit keeps a record of each call that changes something; nil for none.
	Audit *audit.Log
	// Auth says who calls; without one, nobody is let in.
	Auth *auth.Authenticator
	// TrustedProxies are the networks whose word on the client's address, in
	// X-Forwarded-For, is believed.
	TrustedProxies []netip.Prefix
}

// guard has every request pass, in this order: its id, the log, the audit, its framing, the page
// that sent it, who calls, whether they may, and what the call understands.
func guard(e *echo.Echo, contract routes, options FrontOptions) {
	e.IPExtractor = clientAddress(options.TrustedProxies)
	e.Use(ownRequestID, middleware.RequestID(), logging(options), auditing(options.Audit, contract.changing), recoverPanic, checkFraming, tellOfTLS,
		refusePages(options.Auth), contract.authenticate(options.Auth, options.Audit), contract.authorize,
		contract.acceptIdempotencyKey, acceptConditions, acceptBody, beginning(options.Audit), headAsGet(e.Router()))
}
