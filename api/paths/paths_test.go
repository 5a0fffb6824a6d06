package paths

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// A parameter is decoded once, however much of the path the client escaped, and is
// found by its name also where the route does not have the method.
func TestPathParameters(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][2]string{
		"/v1/timers/order/o-1/fire":    {"order", "o-1"},
		"/v1/timers/%6frder/o%2D1":     {"order", "o-1"},
		"/v1/timers/order/a%2Fb":       {"order", "a/b"},
		"/v1/timers/order/a%252Fb":     {"order", "a%2Fb"},
		"/v1/timers/o%2Fr/a%20b/fire":  {"o/r", "a b"},
		"/v1/timers/order/x?type=%2Fy": {"order", "x"},
	} {
		for _, method := range []string{"POST", "HEAD"} {
			e := echo.New()
			e.POST("/v1/timers/:type/:id", echo.NotFoundHandler)
			e.POST("/v1/timers/:type/:id/fire", echo.NotFoundHandler)
			c := e.NewContext(httptest.NewRequest(method, target, nil), nil)
			e.Router().Find(method, echo.GetPath(c.Request()), c)
			require.Equal(t, want, [2]string{Param(c, Type), Param(c, ID)}, "%s %s", method, target)
			require.Empty(t, Param(c, "version"))
		}
	}
}
