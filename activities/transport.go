package activities

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"code.dny.dev/ssrf"

	"github.com/wakecall/wakecall/timer"
)

// metadata are addresses of cloud metadata services that lie in public ranges.
var metadata = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// NewTransport returns the transport for callbacks. Only public addresses, and
// those in allowed, can be reached: the address is judged after name
// resolution, for each connection, which leaves DNS rebinding no gap. No proxy
// is taken from the environment, and nothing is decompressed.
func NewTransport(allowed []netip.Prefix) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second, Control: guard(allowed).Safe}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 32 << 10,
	}
}

// Reach is the rule of the transport for addresses that stand in a URL.
func Reach(allowed []netip.Prefix) timer.Reach {
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

// classify names the class of a transport failure.
func classify(err error) timer.Trouble {
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return timer.BlockedAddress
	case isTLS(err):
		return timer.TLSFailure
	case isTimeout(err):
		return timer.Timeout
	case is[*net.DNSError](err):
		return timer.DNSFailure
	case isDial(err):
		return timer.ConnectFailure
	default:
		return timer.BrokenAnswer
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// alert is the operation of a [net.OpError] that carries a TLS alert of the
// other side, such as the demand for a client certificate.
const alert = "remote error"

func isTLS(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == alert {
		return true
	}
	return is[*tls.CertificateVerificationError](err) || is[tls.RecordHeaderError](err) || is[tls.AlertError](err) ||
		is[x509.UnknownAuthorityError](err) || is[x509.HostnameError](err) || is[x509.CertificateInvalidError](err)
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
