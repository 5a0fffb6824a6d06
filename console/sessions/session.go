package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Session is what the cookie holds. Nothing of it is stored elsewhere. Who signed in is a key or
// a person. What they may do is not in it: the configuration says so at each request.
type Session struct {
	// Key is the digest of the API key that was shown, in hexadecimal digits.
	Key string `json:"key,omitzero"`
	// Person is the user of the identity provider, with the groups at the sign-in.
	Person *oidc.Person `json:"person,omitzero"`
	// Ends is when it is over however busy it is, and Seen when it was last renewed.
	Ends time.Time `json:"ends"`
	Seen time.Time `json:"seen"`
}

var (
	errOver    = errors.New("the session is over")
	errRevoked = errors.New("the API key or the provider of the session is no longer configured")
)

// Exchange is a request and its answer: what cookies come and go with.
type Exchange struct {
	W http.ResponseWriter
	R *http.Request
}

// Sessions knows who is there, by what the browser keeps.
type Sessions struct {
	// Auth knows the API keys.
	Auth *auth.Authenticator
	// SignIn signs people in at an identity provider; nil where there is none.
	SignIn *oidc.Browser
	// Box seals sessions, so that every gateway with the same key opens them.
	Box *seal.Box
	// Proxies are the networks of proxies. X-Forwarded-Proto counts only if it comes from them.
	Proxies []netip.Prefix
	Logger  *slog.Logger
	Now     func() time.Time
}

// WithKey makes sure of a key to seal with: without one, sessions are good in this process only.
func (c *Sessions) WithKey() (err error) {
	if _, err := c.Box.SealAs(ofSession.purpose, ""); err == nil {
		return nil
	}
	if c.Box, err = seal.New(seal.NewKey()); err == nil && c.Auth.AsksForKeys() {
		c.Logger.Warn("no WAKECALL_SECRET_KEY is set: a console session is valid at this process only, and ends with it")
	}
	return err
}

// Begin starts a session.
func (c *Sessions) Begin(x Exchange, s Session, who *auth.Principal) error {
	now := c.Now()
	s.Ends, s.Seen = now.Add(tuning.SessionLife), now
	if err := c.setCookie(x, s); err != nil {
		return err
	}
	c.Logger.Info("signed in to the console", "name", who.Name, "by", who.By, "from", c.Client(x.R))
	return nil
}

// setCookie sends a session. The browser keeps it for longer than it is valid: a form that is sent too late
// still names its owner.
func (c *Sessions) setCookie(x Exchange, s Session) error {
	return c.Remember(x, ofSession, s, s.Ends.Add(tuning.SessionKnown))
}

// End has the browser forget the session, and the form that was typed in it.
func (c *Sessions) End(x Exchange) {
	c.Forget(x, ofSession)
	c.Forget(x, OfForm)
}

// Owner names who the session of a browser belongs to, also one that is over; "" without one.
func (c *Sessions) Owner(x Exchange) string {
	var s Session
	if c.Recall(x, ofSession, &s) != nil {
		return ""
	}
	if s.Person != nil {
		return "person " + s.Person.Subject + " of " + s.Person.Issuer
	}
	return "key " + s.Key
}

// Recognise is [Sessions.Known], and renews the session.
func (c *Sessions) Recognise(x Exchange) *auth.Principal {
	if c.Auth.AllCallers() != nil {
		return c.Known(x)
	}
	s, who, err := c.open(x)
	if err != nil {
		return nil
	}
	if now := c.Now(); now.Sub(s.Seen) >= tuning.SessionRenewal {
		s.Seen = now
		_ = c.setCookie(x, s) // else it is as good as it was
	}
	return who
}

// Known returns the principal of a request: that of all callers where the API asks for no key, and else the
// owner of the session. It is nil without a session.
func (c *Sessions) Known(x Exchange) *auth.Principal {
	if all := c.Auth.AllCallers(); all != nil {
		return inConsole(*all, time.Time{})
	}
	_, who, _ := c.open(x) // nil with an error
	return who
}

// open reads the session of a visit.
func (c *Sessions) open(x Exchange) (s Session, who *auth.Principal, err error) {
	if err := c.Recall(x, ofSession, &s); err != nil {
		return s, nil, err
	}
	if now := c.Now(); !now.Before(s.Ends) || now.Sub(s.Seen) >= tuning.SessionIdle {
		return s, nil, errOver
	}
	found := c.principalOf(s)
	if found == nil {
		return s, nil, errRevoked
	}
	return s, inConsole(*found, s.Ends), nil
}

// principalOf is whose a session is, as of now; nil where that is configured no longer.
func (c *Sessions) principalOf(s Session) *auth.Principal {
	if s.Person != nil {
		if c.SignIn == nil {
			return nil
		}
		return c.SignIn.Principal(*s.Person)
	}
	var digest [sha256.Size]byte
	if n, err := hex.Decode(digest[:], []byte(s.Key)); err != nil || n != len(digest) {
		return nil
	}
	return c.Auth.ByDigest(digest)
}

// inConsole is a principal that calls through the console.
func inConsole(who auth.Principal, ends time.Time) *auth.Principal {
	who.Via, who.Ends = auth.ViaConsole, ends
	return &who
}

// Private reports whether the cookie cannot be read on the way.
func (c *Sessions) Private(r *http.Request) bool {
	return c.Encrypted(r) || door.Peer(r).IsLoopback() && !errors.Is((door.Rule{}).Check(r), door.ErrHost)
}

// Encrypted reports whether the browser speaks TLS, with us or with a proxy in front.
func (c *Sessions) Encrypted(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	return door.Proxied(r, c.Proxies) && slices.Equal(r.Header.Values("X-Forwarded-Proto"), []string{"https"})
}

// Client is the address of a visitor, for the log.
func (c *Sessions) Client(r *http.Request) string { return door.Client(r, c.Proxies) }
