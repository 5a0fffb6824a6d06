package client

import (
	"context"
	"io"
	"net/http"
)

// Server asks the process that answers about itself.
type Server struct{ caller *caller }

// Health is what a process says about itself.
type Health struct {
	Status string `json:"status"`
	// Note says that callbacks are paused, where somebody has paused them.
	Note string `json:"note,omitempty"`
}

// About is where one is, and what answers there.
type About struct {
	Name string `json:"name"`
	// Version is left out for those who show no key.
	Version string            `json:"version,omitempty"`
	Links   map[string]string `json:"links"`
}

// About tells which program answers, and where its API and its documents are.
func (s Server) About(ctx context.Context) (about About, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/"}, &about)
	return about, err
}

// Live reports that the process is alive. It asks nobody else.
func (s Server) Live(ctx context.Context) (health Health, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/livez"}, &health)
	return health, err
}

// Ready reports whether a timer that is booked now would ring.
func (s Server) Ready(ctx context.Context) (health Health, err error) {
	_, err = s.caller.do(ctx, call{method: http.MethodGet, path: "/readyz"}, &health)
	return health, err
}

// Metrics writes what the process counts, in the text format of Prometheus.
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
