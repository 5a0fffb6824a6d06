package front

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// headAsGet answers HEAD wherever GET is answered (RFC 9110, section 9.3.2), and says so in Allow;
// net/http leaves out the body. It is the last middleware, since it chooses the handler anew.
func headAsGet(router *echo.Router) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			allowed, _ := c.Get(echo.ContextKeyHeaderAllow).(string)
			if !slices.Contains(strings.Split(allowed, ", "), http.MethodGet) {
				return next(c)
			}
			if c.Request().Method == http.MethodHead {
				router.Find(http.MethodGet, echo.GetPath(c.Request()), c)
				return c.Handler()(c)
			}
			answer := c.Response()
			answer.Before(func() { answer.Header().Set(echo.HeaderAllow, allowed+", "+http.MethodHead) })
			return next(c)
		}
	}
}
