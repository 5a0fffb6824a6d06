package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	uiapi "github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"

	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/tuning"
)

type webUI struct{ server *http.Server }

// startUI serves Temporal's Web UI. Its own server would answer to any host name, so one of ours
// serves its pages.
func startUI(o Options) (*webUI, error) {
	if o.UIAddr == "" {
		return nil, nil
	}
	pages, err := uiPages(o)
	if err != nil {
		return nil, fmt.Errorf("starting the Web UI: %w", err)
	}
	listener, err := net.Listen("tcp", o.UIAddr)
	if err != nil {
		return nil, err
	}
	rule := door.Rule{Public: !isLoopback(listener.Addr()), Names: o.UINames}
	server := &http.Server{Handler: rule.Guard(pages), ReadHeaderTimeout: tuning.ReadHeaderTimeout, IdleTimeout: tuning.IdleTimeout}
	go func() { _ = server.Serve(listener) }()
	return &webUI{server}, nil
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// uiPages returns the handler of the Web UI's pages, and of their calls.
func uiPages(o Options) (http.Handler, error) {
	config, err := uiconfig.NewConfigProviderWithRefresh(&uiconfig.Config{
		TemporalGRPCAddress: o.Addr, EnableUI: true, DefaultNamespace: o.Namespace,
		// Our pages call no other site.
		DisableNewsFetch: true, HideLogs: true,
		CORS: uiconfig.CORS{CookieInsecure: true}, // served over plain HTTP on loopback
	})
	if err != nil {
		return nil, err
	}
	assets, err := ui.Assets()
	if err == nil {
		assets, err = fs.Sub(assets, "local")
	}
	if err != nil {
		return nil, err
	}
	const insecureCookie = false
	e := echo.New()
	e.Use(middleware.Recover(), middleware.Gzip(), unframed, csrf.EnsureTokenCookie(insecureCookie),
		middleware.CSRFWithConfig(csrf.MiddlewareConfig(config, insecureCookie)))
	route.SetHealthRoute(e)
	forwarded := []uiapi.Middleware{headers.WithForwardHeaders([]string{"Caller-Type"})}
	err = errors.Join(route.SetAPIRoutes(e, config, forwarded), route.SetUIRoutes(e, "", assets))
	route.SetRenderRoute(e, "")
	return e, err
}

// unframed keeps other pages from framing those of the Web UI. The Web UI may frame its own
// rendered content.
func unframed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Before(func() {
			if c.Path() == "/render" {
				c.Response().Header().Set("X-Frame-Options", "SAMEORIGIN")
				c.Response().Header().Add("Content-Security-Policy", "frame-ancestors 'self'")
				return
			}
			door.Unframed(c.Response().Header())
		})
		return next(c)
	}
}

func (u *webUI) stop() {
	if u != nil {
		_ = u.server.Close()
	}
}
