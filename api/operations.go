package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5emb"

	"github.com/wakecall/wakecall/core/wire"
)

// OpenAPI is the description of the API, OpenAPI 3.1. Tests hold it to the
// routes and to real answers.
var OpenAPI = inNextYear(document, time.Now())

//go:embed openapi.yaml
var document []byte

// exampleDay is the day that examples of due times name.
const exampleDay = "-01-31"

// inNextYear moves the examples of due times into the next year: those of the file are in
// the past some day, and Wakecall refuses them then.
func inNextYear(text []byte, now time.Time) []byte {
	return bytes.ReplaceAll(text, []byte("2027"+exampleDay), fmt.Appendf(nil, "%04d%s", now.Year()+1, exampleDay))
}

func (s *Server) operations(e *echo.Echo, options Options) {
	index := s.index(options.Version)
	e.GET(rootPath, index)
	e.GET(strings.TrimSuffix(versionPrefix, "/"), index)
	e.GET(livePath, func(c echo.Context) error { return c.JSON(http.StatusOK, health{Status: "ok"}) })
	e.GET(readyPath, s.readyz)
	if !options.MetricsElsewhere {
		e.GET("/metrics", echo.WrapHandler(options.Telemetry.Handler()))
	}
	e.GET(specPath, func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", OpenAPI) })
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

type health struct {
	Status string `json:"status"`
}

type ready struct {
	health
	// Note says what somebody should know although all is well.
	Note string `json:"note,omitzero"`
}

func (s *Server) readyz(c echo.Context) error {
	if err := s.ready.check(c.Request().Context()); err != nil {
		return &wire.Error{
			Code: wire.Unavailable, Cause: err,
			Message: "A timer booked now might not ring: Temporal or the workers do not answer.",
		}
	}
	return c.JSON(http.StatusOK, ready{health{Status: "ready"}, s.ready.note()})
}
