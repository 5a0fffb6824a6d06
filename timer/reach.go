package timer

import (
	"net/netip"
	"net/url"
)

// Reach reports whether callbacks may be sent to an address. An address that is written
// in a URL is checked when the URL is given; an address that a host name resolves to is
// checked for each connection.
type Reach func(netip.Addr) bool

// Callback returns what is wrong with where a callback leads.
func (r Reach) Callback(c *Callback) (errs FieldErrors) {
	if c != nil {
		errs.Under("/callback", r.url(c.URL))
	}
	return errs
}

// Policy returns what is wrong with where the URLs of a policy lead. Those that
// old has as well are not judged again.
func (r Reach) Policy(p, old Policy) (errs FieldErrors) {
	if p.Callback.Destination != old.Callback.Destination {
		errs.Under("/callback", r.url(p.Callback.URL))
	}
	if p.Alert != nil && (old.Alert == nil || p.Alert.URL != old.Alert.URL) {
		errs.Under("/alert", r.url(p.Alert.URL))
	}
	return errs
}

func (r Reach) url(raw string) (errs FieldErrors) {
	if r == nil {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil // refused for its form
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !r(addr.WithZone("").Unmap()) {
		errs.Add("/url", CodeInvalidURL, "must not lead to "+addr.String()+
			": it is a private or reserved address that WAKECALL_CALLBACK_ALLOW does not allow")
	}
	return errs
}
