package front

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ownRequestID drops a request id that is no short text of visible ASCII characters, so
// that the request gets one of ours: it is repeated in the answer and in the log.
func ownRequestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if len(id) > tuning.RequestIDLen || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			c.Request().Header.Del(echo.HeaderXRequestID)
		}
		return next(c)
	}
}

// logging writes one wide line for each request, and counts it by its route's
// template: a raw path would make as many series as there are timers.
func logging(options Options) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			began, broken := time.Now(), false
			if err := next(c); err != nil {
				broken = c.Response().Committed
				c.Error(err)
			}
			took := time.Since(began)
			status := c.Response().Status
			options.Telemetry.Requested(c.Request().Method, c.Path(), status, took)
			cause := answers.CauseOf(c)
			if level := levelOf(status, cause); options.Logger.Enabled(c.Request().Context(), level) {
				options.Logger.Log(c.Request().Context(), level, "request", lineOf(c, took, cause)...)
			}
			if broken { // so that the client does not take the part for the whole
				panic(http.ErrAbortHandler) //nolint:forbidigo // net/http has no other way to break a connection
			}
			return nil
		}
	}
}

// lineOf returns what the line of a request says, by name.
func lineOf(c echo.Context, took time.Duration, cause error) []any {
	line := []any{
		"method", wire.Clip(c.Request().Method, tuning.LoggedBytes), "route", c.Path(), "status", c.Response().Status, "took", took.String(),
		"request_id", c.Response().Header().Get(echo.HeaderXRequestID), "client", calls.Author(c), "from", c.RealIP(),
	}
	if cause != nil {
		line = append(line, "cause", wire.Clip(cause.Error(), tuning.LoggedBytes))
	}
	return line
}

func levelOf(status int, cause error) slog.Level {
	switch {
	case cause != nil && wire.CodeOf(cause) == problems.SignInUnavailable: // who asks the provider has said it, once
		return slog.LevelInfo
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}

// recoverPanic turns a panic of a handler into an internal error.
func recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer answers.Recover(&err)
		return next(c)
	}
}
