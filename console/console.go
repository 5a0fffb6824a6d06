package console

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/live"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/seal"
)

// Options is what a [Console] needs.
type Options struct {
	Mode site.Mode
	Look site.Look
	// Auth knows the API keys.
	Auth *auth.Authenticator
	// SignIn signs people in at an identity provider; nil where there is none.
	SignIn *oidc.Browser
	// Box seals sessions, so that every gateway with the same key opens them.
	Box *seal.Box
	// Proxies are the networks of proxies. X-Forwarded-Proto counts only if it comes from them.
	Proxies []netip.Prefix
	Logger  *slog.Logger
	// Pace is how often the console looks at the whole installation.
	Pace watch.Pace
	// Timeouts bound how long its pages wait for the API.
	Timeouts site.Timeouts
	// Now is the clock; nil for that of the system.
	Now func() time.Time
}

// Console answers what is beneath /console/.
type Console struct {
	site   site.Site
	pace   watch.Pace
	routes *http.ServeMux
	// parts renders the changing part of each live page, and plots its plots.
	parts, plots *http.ServeMux
	hub          *live.Hub
}

// New returns a console. Without a secret key its sessions are good in this process only.
func New(options Options) (*Console, error) {
	pages, err := site.ParseTemplates()
	if err != nil {
		return nil, err
	}
	options.Look.Command = cmp.Or(options.Look.Command, "wakecall")
	if options.Now == nil {
		options.Now = time.Now
	}
	people := &sessions.Sessions{
		Auth: options.Auth, SignIn: options.SignIn, Box: options.Box, Proxies: options.Proxies, Logger: options.Logger, Now: options.Now,
	}
	if err := people.WithKey(); err != nil {
		return nil, err
	}
	shared := site.Site{
		Mode: options.Mode, Look: options.Look, Sessions: people, Logger: options.Logger, Now: options.Now,
		Templates: pages, Timeouts: options.Timeouts,
	}
	return &Console{site: shared, pace: options.Pace}, nil
}

// Handler returns the handler of the console over an HTTP API. The API's handler takes the caller from the request's context, as an
// [auth.Principal]. The streams of the console end once stopping is done.
func (c *Console) Handler(stopping context.Context, api http.Handler) http.Handler {
	over := *c
	over.site = c.site.WithAPI(calls.Sender{API: api, Log: c.site.Logger}, c.pace)
	over.hub = live.New(stopping, c.site.Logger)
	all := routesOf(&over.site)
	over.routes, over.parts, over.plots = over.mux(all), partsMux(all), plotsMux(all)
	return &over
}

// ServeHTTP implements [http.Handler]. The front of the API has set the headers of every answer.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.routes.ServeHTTP(w, r) }
