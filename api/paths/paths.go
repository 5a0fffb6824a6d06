package paths

import (
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Prefix is what every call of the contract begins with.
const Prefix = "/v1/"

// Live and readyPath are open to all: they tell nothing but health.
const (
	Live  = "/livez"
	Ready = "/readyz"
)

// Console is where the pages for people are.
const Console = "/console"

// Timers is where timers are.
const Timers = Prefix + "timers"

// The parameters of a path, as the routes name them.
const (
	Type = "type"
	ID   = "id"
)

// Param returns a parameter of the path, by its name in the route, decoded exactly once. Echo's
// own parameters are decoded or not depending on how the client escaped them, and a request whose
// method the route does not have has none.
func Param(c echo.Context, name string) string {
	route, path := strings.Split(c.Path(), "/"), strings.Split(c.Request().URL.EscapedPath(), "/")
	n := slices.Index(route, ":"+name)
	if n < 0 || n >= len(path) {
		return ""
	}
	decoded, err := url.PathUnescape(path[n])
	if err != nil {
		return ""
	}
	return decoded
}
