package front

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
)

// refusePages refuses the requests of pages of other sites, where no key is asked for. Loopback does not
// keep them out: the browser of a user runs on that machine. It sends a call without a body to any address
// that a page names, and does not ask there first.
func refusePages(authenticator *auth.Authenticator) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if isPage(c.Request()) {
				door.Confined(c.Response().Header())
			} else {
				door.Unframed(c.Response().Header())
			}
			if authenticator.AsksForKeys() || tellsOnlyHealth(c.Request()) {
				return next(c)
			}
			if err := checkOrigin(c.Request()); err != nil {
				return err
			}
			return next(c)
		}
	}
}

// checkOrigin refuses a request that a page of another site may have made.
func checkOrigin(r *http.Request) error {
	switch err := (door.Rule{}).Check(r); {
	case err == nil:
		return nil
	case errors.Is(err, door.ErrHost):
		return &wire.Error{
			Code: problems.Forbidden, Message: "Without API keys the gateway answers only at 127.0.0.1, [::1] or localhost. " +
				"Call it there, or configure keys (WAKECALL_API_KEYS) to use another name.",
		}
	default:
		return problems.OtherOrigin()
	}
}

// tellsOnlyHealth reports whether a request asks for health only, which every caller may know.
func tellsOnlyHealth(r *http.Request) bool {
	return r.URL.Path == paths.Live || r.URL.Path == paths.Ready
}

// isPage reports whether a request is for the console, by whatever method.
func isPage(r *http.Request) bool {
	return r.URL.Path == paths.Console || strings.HasPrefix(r.URL.Path, paths.Console+"/")
}
