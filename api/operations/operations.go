package operations

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5emb"

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
)

// Options is what the calls outside of the contract need.
type Options struct {
	// Ready reports whether a timer that is booked now would ring.
	Ready func(context.Context) error
	// Note returns a remark of the process for /readyz; nil for none.
	Note func() string
	// Checks returns what the checks of this process found; nil for nothing.
	Checks func() []health.Check
	// Metrics are the metrics of this process; nil where another server has them.
	Metrics http.Handler
	// Version is the version of the program. Only authenticated callers see it.
	Version string
	// Paused lists what is paused; nil in tests where nothing is.
	Paused pausedList
	// Stopping is done once this process stops.
	Stopping context.Context
	// Auth identifies callers.
	Auth *auth.Authenticator
	// Document is the description of the API.
	Document []byte
}

// Register adds the calls outside of the contract.
func Register(e *echo.Echo, options Options) {
	index := index(options)
	e.GET(rootPath, index)
	e.GET(strings.TrimSuffix(paths.Prefix, "/"), index)
	e.GET(paths.Live, func(c echo.Context) error { return c.JSON(http.StatusOK, HealthBody{Status: "ok"}) })
	e.GET(paths.Ready, newReadiness(options).readyz)
	if options.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(options.Metrics))
	}
	e.GET(specPath, func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", options.Document) })
	docs := problemsOf(v5emb.New("Wakecall", specPath, docsPath))
	e.GET(docsPath, docs)
	e.GET(docsPath+"/*", docs)
}

// problemsOf serves files, and leaves it to Wakecall to say that there is none.
func problemsOf(files http.Handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		w := &found{ResponseWriter: c.Response()}
		files.ServeHTTP(w, c.Request())
		if w.missing {
			return echo.ErrNotFound
		}
		return nil
	}
}

// found passes on every answer but 404.
type found struct {
	http.ResponseWriter
	missing bool
}

// WriteHeader implements [http.ResponseWriter].
func (f *found) WriteHeader(status int) {
	if f.missing = status == http.StatusNotFound; !f.missing {
		f.ResponseWriter.WriteHeader(status)
	}
}

// Write implements [http.ResponseWriter].
func (f *found) Write(body []byte) (int, error) {
	if f.missing {
		return len(body), nil
	}
	return f.ResponseWriter.Write(body)
}

// HealthBody says that the process answers.
type HealthBody struct {
	Status string `json:"status"`
}

// ReadyBody says that a timer that is booked now rings.
type ReadyBody struct {
	HealthBody
	// Note names what needs attention although the process is ready.
	Note string `json:"note,omitzero"`
	// Checks are the checks of the installation, if the caller asked for them.
	Checks []health.Check `json:"checks,omitempty"`
}

func (r *readiness) readyz(c echo.Context) error {
	failed := r.check(c.Request().Context())
	var checks []health.Check
	if c.QueryParams().Has(verboseName) {
		var err error
		if checks, err = r.checks(c, failed); err != nil {
			return err
		}
	}
	if failed != nil {
		return &wire.Error{
			Code: wire.Unavailable, Cause: failed, State: checks,
			Message: "A timer booked now might not ring: Temporal or the workers do not answer.",
		}
	}
	return c.JSON(http.StatusOK, ReadyBody{HealthBody{Status: "ready"}, r.remarks(), checks})
}
