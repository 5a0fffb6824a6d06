package timer

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Reach tells where messages may be sent.
type Reach struct {
	// Address tells whether an address may be called; nil allows every one. Where one
	// is written literally in a URL it is judged when the URL is given; what a name
	// resolves to is judged for each connection.
	Address func(netip.Addr) bool
	// Brokers are the names of those that the operator has configured.
	Brokers []string
}

// Callback returns what is wrong with where a callback leads.
func (r Reach) Callback(c *Callback) (errs FieldErrors) {
	if c != nil {
		errs.Under("/callback", r.destination(c.Destination))
	}
	return errs
}

// Terms returns what is wrong with where the destinations of a timer lead.
func (r Reach) Terms(t Terms) (errs FieldErrors) {
	errs = r.Callback(t.Callback)
	if t.OnDelivered != nil {
		errs.Under("/on_delivered", r.destination(t.OnDelivered.Destination))
	}
	if t.OnFailed != nil {
		errs.Under("/on_failed", r.destination(t.OnFailed.Destination))
	}
	return errs
}

// Loader returns what is wrong with where a loader leads.
func (r Reach) Loader(l DispatchLoader) (errs FieldErrors) {
	errs.Under("/loader", r.destination(HTTP(l.URL)))
	return errs
}

// Policy returns what is wrong with where the destinations of a policy lead. Those that
// old has as well are not judged again.
func (r Reach) Policy(p, old Policy) (errs FieldErrors) {
	if p.Callback.Destination != old.Callback.Destination {
		errs.Under("/callback", r.destination(p.Callback.Destination))
	}
	for _, one := range []struct {
		pointer  string
		now, was *Alert
	}{{"/alert", p.Alert, old.Alert}, {"/on_delivered", p.OnDelivered, old.OnDelivered}, {"/on_failed", p.OnFailed, old.OnFailed}} {
		if one.now != nil && (one.was == nil || one.now.Destination != one.was.Destination) {
			errs.Under(one.pointer, r.destination(one.now.Destination))
		}
	}
	if p.Fallback != nil && (old.Fallback == nil || p.Fallback.Destination != old.Fallback.Destination) {
		errs.Under("/fallback", r.destination(p.Fallback.Destination))
	}
	return errs
}

func (r Reach) destination(d Destination) (errs FieldErrors) {
	if d.Broker != "" && !slices.Contains(r.Brokers, d.Broker) {
		errs.Add("/broker", CodeInvalidBroker, r.unknownBroker())
	}
	if r.Address == nil {
		return errs
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return errs // refused for its form
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !r.Address(addr.WithZone("").Unmap()) {
		errs.Add("/url", CodeInvalidURL, "must not lead to "+addr.String()+
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
