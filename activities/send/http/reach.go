package httpsend

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"

	"code.dny.dev/ssrf"

	"github.com/wakecall/wakecall/internal/tuning"
)

// metadata are addresses of cloud metadata services in public ranges.
var metadata = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// roundTripper makes the requests. It reaches only public addresses and those in allowed. It
// judges the address after name resolution, for each connection, which leaves DNS rebinding
// no gap. It takes no proxy from the environment and decompresses nothing. roots sign the
// certificates of receivers; nil means those of the system.
func roundTripper(allowed []netip.Prefix, roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: tuning.ReceiverConnectTimeout, KeepAlive: tuning.ReceiverKeepAlive, Control: guard(allowed).Safe}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, GetClientCertificate: showing(&tls.Certificate{})},
		TLSHandshakeTimeout:    tuning.ReceiverTLSTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           tuning.IdleConnections,
		MaxIdleConnsPerHost:    tuning.IdleConnectionsPerReceiver,
		IdleConnTimeout:        tuning.ReceiverIdleTimeout,
		MaxResponseHeaderBytes: tuning.ReceiverHeaderBytes,
	}
}

// Reach is the transport's rule for addresses in a URL.
func Reach(allowed []netip.Prefix) func(netip.Addr) bool {
	rule := guard(allowed)
	return func(addr netip.Addr) bool { return rule.SafeAddr(addr) == nil }
}

func guard(allowed []netip.Prefix) *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, prefix := range allowed {
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	return ssrf.New(ssrf.WithNetworks("tcp4", "tcp6"), ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(metadata...),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
}
