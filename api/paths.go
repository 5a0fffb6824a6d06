package api

import (
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// versionPrefix is what every call of the contract begins with.
const versionPrefix = "/v1/"

// timersPath is where timers are.
const timersPath = versionPrefix + "timers"

// The parameters of a path, as the routes name them.
const (
	paramType = "type"
	paramID   = "id"
)

// pathParam is a parameter of the path, by its name in the route; it is decoded exactly
// once. Echo's own parameters are decoded or not depending on how the client escaped
// them, and a request whose method the route does not have has none.
func pathParam(c echo.Context, name string) string {
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
