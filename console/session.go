package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/tuning"
)

// purpose is what a session is sealed for: no other sealed text is one.
const purpose = "console session"

// session is what the cookie holds. Nothing of it is stored elsewhere. What who has it may do
// is not in it: that is asked of the configuration at each request.
type session struct {
	Name string `json:"name"`
	// Key is the digest of the API key that was shown, in hexadecimal digits.
	Key string `json:"key"`
	// Ends is when it is over however busy it is, and Seen when it was last renewed.
	Ends time.Time `json:"ends"`
	Seen time.Time `json:"seen"`
}

var (
	errOver    = errors.New("the session is over")
	errRevoked = errors.New("the API key of the session is no longer configured")
)

// The names of the cookie. A browser takes the first over TLS only, from this host only.
const (
	cookieSecure = "__Host-wakecall"
	cookiePlain  = "wakecall"
)

// begin starts the session of who has shown an API key.
func (c *Console) begin(v *visit, who *auth.Principal, digest [sha256.Size]byte) error {
	now := c.Now()
	v.who = who
	return c.setCookie(v, session{Name: who.Name, Key: hex.EncodeToString(digest[:]), Ends: now.Add(tuning.SessionLife), Seen: now})
}

// setCookie sends a session.
func (c *Console) setCookie(v *visit, s session) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sealed, err := c.Box.SealAs(purpose, string(text))
	if err != nil {
		return err
	}
	http.SetCookie(v.w, c.cookie(v, sealed, s.Ends))
	return nil
}

// cookie is good under its host; where that is this machine, plain HTTP is as good as TLS.
func (c *Console) cookie(v *visit, value string, ends time.Time) *http.Cookie {
	secure := c.encrypted(v.r)
	name := cookiePlain
	if secure {
		name = cookieSecure
	}
	return &http.Cookie{Name: name, Value: value, Path: "/", Expires: ends, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
}

// end has the browser forget the session.
func (c *Console) end(v *visit) {
	gone := c.cookie(v, "", time.Unix(1, 0))
	gone.MaxAge = -1
	http.SetCookie(v.w, gone)
}

// recognise finds who is there: whoever calls, where nobody is asked, and else who has a
// session.
func (c *Console) recognise(v *visit) {
	if anybody := c.Auth.Anybody(); anybody != nil {
		v.who = inConsole(*anybody, time.Time{})
		return
	}
	cookies := v.r.CookiesNamed(c.cookie(v, "", time.Time{}).Name)
	if len(cookies) != 1 { // of two, one may be forged
		return
	}
	s, who, err := c.open(cookies[0].Value)
	if err != nil {
		return
	}
	v.who = who
	if now := c.Now(); now.Sub(s.Seen) >= tuning.SessionRenewal {
		s.Seen = now
		_ = c.setCookie(v, s) // else it is as good as it was
	}
}

// open reads a cookie.
func (c *Console) open(sealed string) (s session, who *auth.Principal, err error) {
	text, err := c.Box.OpenAs(purpose, sealed)
	if err != nil {
		return s, nil, err
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, nil, err
	}
	if now := c.Now(); !now.Before(s.Ends) || now.Sub(s.Seen) >= tuning.SessionIdle {
		return s, nil, errOver
	}
	var digest [sha256.Size]byte
	if n, err := hex.Decode(digest[:], []byte(s.Key)); err != nil || n != len(digest) {
		return s, nil, errRevoked
	}
	found := c.Auth.ByDigest(digest)
	if found == nil {
		return s, nil, errRevoked
	}
	return s, inConsole(*found, s.Ends), nil
}

// inConsole is a principal that calls through the console.
func inConsole(who auth.Principal, ends time.Time) *auth.Principal {
	who.Via, who.Ends = auth.ViaConsole, ends
	return &who
}

// private reports whether the cookie cannot be read on the way.
func (c *Console) private(r *http.Request) bool {
	return c.encrypted(r) || isLoopback(peerOf(r)) && !errors.Is((door.Rule{}).Check(r), door.ErrHost)
}

// encrypted reports whether the browser speaks TLS, with us or with a proxy in front.
func (c *Console) encrypted(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	peer := peerOf(r)
	trusted := slices.ContainsFunc(c.Proxies, func(network netip.Prefix) bool { return network.Contains(peer) })
	return trusted && slices.Equal(r.Header.Values("X-Forwarded-Proto"), []string{"https"})
}

func isLoopback(addr netip.Addr) bool { return addr.IsLoopback() }

// peerOf is the address at the other end of the connection.
func peerOf(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}
