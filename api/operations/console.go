package operations

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/paths"
)

// MountConsole has the console answer. The console calls the API as any client does, so the same scope, the
// same conditions and the same audit hold for it.
func MountConsole(stopping context.Context, e *echo.Echo, console func(context.Context, http.Handler) http.Handler) {
	if console == nil {
		return
	}
	pages := echo.WrapHandler(console(stopping, e))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		e.Add(method, paths.Console, pages)
		e.Add(method, paths.Console+"/*", pages)
	}
}
