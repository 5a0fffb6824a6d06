package door

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Client returns the address of the client of a request; "" if it is unknown. It is the other end of the
// connection, or what trusted proxies say. Their list is read from our side, up to the first address that is no
// trusted proxy. Any client can write the header, so no other address in it is believed.
func Client(r *http.Request, proxies []netip.Prefix) string {
	direct, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !Proxied(r, proxies) {
		return direct
	}
	client := direct
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		addr, err := netip.ParseAddr(strings.Trim(hop, " []"))
		if err != nil {
			return direct
		}
		if client = addr.String(); !within(proxies, addr) {
			break
		}
	}
	return client
}

// Proxied reports whether the other end of the connection is one of the proxies.
func Proxied(r *http.Request, proxies []netip.Prefix) bool { return within(proxies, Peer(r)) }

// Peer returns the address at the other end of the connection; the zero value if it is unknown.
func Peer(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}

func within(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(addr.Unmap()) })
}
