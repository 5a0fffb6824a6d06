package front

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
)

// Telemetry counts requests.
type Telemetry interface {
	// Requested counts a request. The route is a template, empty for none; the method
	// is what the caller sent, anything.
	Requested(method, route string, status int, took time.Duration)
}

// Options is what stands before every call.
type Options struct {
	Telemetry Telemetry
	Logger    *slog.Logger
	// Audit keeps a record of each call that changes something; nil for none.
	Audit *audit.Log
	// Auth identifies callers. Without one, no caller is let in.
	Auth *auth.Authenticator
	// TrustedProxies are the networks of proxies. X-Forwarded-For counts only if it comes from them.
	TrustedProxies []netip.Prefix
}

// Guard has every request pass, in this order: its id, the log, the audit, its framing, the page
// that sent it, who calls, whether they may, and what the call understands.
func Guard(e *echo.Echo, contract calls.Routes, options Options) {
	e.IPExtractor = func(r *http.Request) string { return door.Client(r, options.TrustedProxies) }
	e.Use(ownRequestID, middleware.RequestID(), logging(options),
		audits.Record(options.Audit, contract.Recorded), audits.RecordForms(options.Audit), recoverPanic, checkFraming, setTLS,
		refusePages(options.Auth), contract.Authenticate(options.Auth, options.Audit), contract.Authorize,
		contract.AcceptIdempotencyKey, calls.AcceptConditions, calls.AcceptBody, audits.Begin(options.Audit), headAsGet(e.Router()))
}
