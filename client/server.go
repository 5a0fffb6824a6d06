package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/core/health"
)

// Server queries the answering process.
type Server struct{ caller *caller }

// Health is the health of a process.
type Health struct {
	Status string `json:"status"`
	// Note reports that callbacks are paused, if they are.
	Note string `json:"note,omitempty"`
	// Checks are the checks of the installation, for [Server.Check].
	Checks []health.Check `json:"checks,omitempty"`
}

// About describes a server.
type About struct {
	Name string `json:"name"`
	// Version is left out for callers without a key.
	Version string            `json:"version,omitempty"`
	Links   map[string]string `json:"links"`
}

// About returns the name of the program, and the addresses of its API and its documents.
func (s Server) About(ctx context.Context) (about About, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/"}, &about)
	return about, err
}

// Live reports that the process is alive. It checks nothing else.
func (s Server) Live(ctx context.Context) (health Health, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/livez"}, &health)
	return health, err
}

// Ready reports whether a timer booked now would ring.
func (s Server) Ready(ctx context.Context) (health Health, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/readyz"}, &health)
	return health, err
}

// Check returns what the process found of its installation, whether or not it is ready.
func (s Server) Check(ctx context.Context) (state Health, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/readyz", query: url.Values{"verbose": {"true"}}}, &state)
	if problem, ok := errors.AsType[*Problem](err); ok && len(problem.Checks) > 0 {
		return Health{Status: string(problem.Code()), Note: problem.Detail, Checks: problem.Checks}, nil
	}
	return state, err
}

// Processes lists the gateways and workers that give signs of life, the gravest first. It requires a
// viewer of everything.
func (s Server) Processes(ctx context.Context) (all health.Processes, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/v1/processes"}, &all)
	return all, err
}

// Metrics writes the metrics of the process, in the text format of Prometheus.
func (s Server) Metrics(ctx context.Context, to io.Writer) error {
	return s.copy(ctx, "/metrics", to)
}

// Description writes the OpenAPI document of the process.
func (s Server) Description(ctx context.Context, to io.Writer) error {
	return s.copy(ctx, "/openapi.yaml", to)
}

func (s Server) copy(ctx context.Context, path string, to io.Writer) error {
	response, err := s.caller.stream(ctx, call{method: http.MethodGet, path: path}, http.NoBody)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(to, response.Body)
	return err
}
