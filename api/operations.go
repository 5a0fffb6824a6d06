package api

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5emb"

	"github.com/wakecall/wakecall/timer"
)

// OpenAPI is the description of the API, OpenAPI 3.1. Tests hold it to the
// routes and to real answers.
//
//go:embed openapi.yaml
var OpenAPI []byte

func (s *Server) operations(e *echo.Echo, options Options) {
	e.GET("/livez", func(c echo.Context) error { return c.JSON(http.StatusOK, health{Status: "ok"}) })
	e.GET("/readyz", s.readyz)
	if !options.MetricsElsewhere {
		e.GET("/metrics", echo.WrapHandler(options.Telemetry.Handler()))
	}
	e.GET("/openapi.yaml", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", OpenAPI) })
	docs := echo.WrapHandler(v5emb.New("Wakecall", "/openapi.yaml", "/docs"))
	e.GET("/docs", docs)
	e.GET("/docs/*", docs)
}

type health struct {
	Status string `json:"status"`
}

func (s *Server) readyz(c echo.Context) error {
	if err := s.ready.check(c.Request().Context()); err != nil {
		return &timer.Error{
			Code: timer.Unavailable, Cause: err,
			Message: "A timer booked now might not ring: Temporal or the workers do not answer.",
		}
	}
	return c.JSON(http.StatusOK, health{Status: "ready"})
}

// readiness asks the probe, not more often than every readyFor: the probe
// writes to Temporal.
type readiness struct {
	probe func(context.Context) error

	mu      sync.Mutex
	asked   time.Time
	last    error
	leaving bool
}

const (
	readyFor     = time.Second
	probeTimeout = 2 * time.Second
)

var errLeaving = errors.New("shutting down")

func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return errLeaving
	}
	if time.Since(r.asked) < readyFor {
		return r.last
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r.last, r.asked = r.probe(ctx), time.Now()
	return r.last
}

// leave tells load balancers to send nobody any more.
func (r *readiness) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving = true
}
