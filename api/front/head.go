package front

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
)

// headAsGet answers HEAD wherever GET is answered (RFC 9110, section 9.3.2); net/http
// leaves out the body. It is the last middleware, since it chooses the handler anew.
func headAsGet(router *echo.Router) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			allowed, _ := c.Get(echo.ContextKeyHeaderAllow).(string)
			if c.Request().Method != http.MethodHead || !answers.AllowsGet(allowed) {
				return next(c)
			}
			router.Find(http.MethodGet, echo.GetPath(c.Request()), c)
			return c.Handler()(c)
		}
	}
}
