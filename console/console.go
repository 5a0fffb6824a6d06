package console

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/seal"
)

// Mode is what the console lets people do.
type Mode string

// The modes. Off is for those who open the console: they do not.
const (
	On       Mode = "on"
	ReadOnly Mode = "read-only"
	Off      Mode = "off"
)

// Modes are all of them.
func Modes() []Mode { return []Mode{On, ReadOnly, Off} }

// Look is what tells one installation from another.
type Look struct {
	// Name is that of the installation, and Colour, one of [Colours], of the bar beneath it.
	Name, Colour string
	// Contact is whom to ask for what one may not do; "" for nobody.
	Contact string
}

// Colours are the names that the bar of an installation may have. The style sheet knows them.
func Colours() []string {
	return []string{"", "blue", "green", "grey", "orange", "purple", "red"}
}

// Options is what a [Console] needs.
type Options struct {
	Mode Mode
	Look Look
	// Auth knows the API keys.
	Auth *auth.Authenticator
	// SignIn signs people in at an identity provider; nil where there is none.
	SignIn *oidc.Browser
	// Box seals sessions, so that every gateway with the same key opens them.
	Box *seal.Box
	// Proxies are the networks whose word on how they were called is believed.
	Proxies []netip.Prefix
	Logger  *slog.Logger
	// Pace is how often the console looks at the whole installation.
	Pace Pace
	// Now is the clock; nil for that of the system.
	Now func() time.Time
}

// Console answers what is beneath /console/.
type Console struct {
	Options
	pages  pages
	routes *http.ServeMux
	calls  http.Handler
	watch  *watch
}

// New returns a console. Without a secret key its sessions are good in this process only.
func New(options Options) (*Console, error) {
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	c := &Console{Options: options, pages: pages}
	if _, err := options.Box.SealAs(ofSession.purpose, ""); err != nil {
		if c.Box, err = seal.New(seal.NewKey()); err != nil {
			return nil, err
		}
		if options.Auth.AsksForKeys() {
			options.Logger.Warn("no WAKECALL_SECRET_KEY is set: a console session is valid at this process only, and ends with it")
		}
	}
	return c, nil
}

// Over is the console of an HTTP API whose handler takes the [auth.Principal] of a request's
// context for who calls.
func (c *Console) Over(calls http.Handler) http.Handler {
	over := *c
	over.calls = calls
	over.watch = &watch{look: over.look, Pace: c.Pace, now: c.Now}
	over.routes = over.mux()
	return &over
}

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	c.routes.ServeHTTP(w, r)
}

// policy is what a page may load and send: nothing but its own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers of every answer.
func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}
