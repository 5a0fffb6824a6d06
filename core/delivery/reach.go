package delivery

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Reach limits the destinations of messages.
type Reach struct {
	// Address reports whether an address may be called; nil allows every one. An address in a
	// URL is checked when the URL is given. The address of a name is checked at each connection.
	Address func(netip.Addr) bool
	// Brokers are the names of the configured brokers.
	Brokers []string
}

// Callback returns what is wrong with the destination of a callback.
func (r Reach) Callback(c *Callback) (errs wire.FieldErrors) {
	if c != nil {
		errs.Under("/callback", r.Destination(c.Destination))
	}
	return errs
}

// Destination returns why a destination is out of reach.
func (r Reach) Destination(d Destination) (errs wire.FieldErrors) {
	if d.Broker != "" && !slices.Contains(r.Brokers, d.Broker) {
		errs.Add("/broker", wire.CodeInvalidBroker, r.unknownBroker())
	}
	if r.Address == nil {
		return errs
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return errs // the form is checked elsewhere
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !r.Address(addr.WithZone("").Unmap()) {
		errs.Add("/url", wire.CodeInvalidURL, "must not lead to "+addr.String()+
			": it is a private or reserved address that WAKECALL_CALLBACK_ALLOW does not allow")
	}
	return errs
}

func (r Reach) unknownBroker() string {
	if len(r.Brokers) == 0 {
		return "is not known: WAKECALL_BROKERS configures none"
	}
	return "must be one of those that WAKECALL_BROKERS configures: " + strings.Join(r.Brokers, ", ")
}
