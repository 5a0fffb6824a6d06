package httpsend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// metadata are addresses of cloud metadata services in public ranges.
var metadata = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// roundTripper makes the requests. It reaches only public addresses and those in allowed. It
// judges the address after name resolution, for each connection, which leaves DNS rebinding
// no gap. It takes no proxy from the environment and decompresses nothing. roots sign the
// certificates of receivers; nil means those of the system.
func roundTripper(allowed []netip.Prefix, roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            dialer{guard(allowed)}.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, GetClientCertificate: showing(&tls.Certificate{})},
		TLSHandshakeTimeout:    tuning.ReceiverTLSTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           tuning.IdleConnections,
		MaxIdleConnsPerHost:    tuning.IdleConnectionsPerReceiver,
		IdleConnTimeout:        tuning.ReceiverIdleTimeout,
		MaxResponseHeaderBytes: tuning.ReceiverHeaderBytes,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: tuning.ReceiverSilence, PingTimeout: tuning.ReceiverPing},
	}
}

// dialer connects to the addresses that a rule allows.
type dialer struct{ rule *ssrf.Guardian }

// errUnreached is the error of a name with allowed addresses that cannot be reached now, and with
// other ones.
var errUnreached = errors.New("no allowed address can be reached")

// errTurnedAway is the error of a request that was sent often enough. net/http would open another
// connection for it.
var errTurnedAway = errors.New("the receiver turned the request away on each connection")

// dial connects to the first allowed address of a name that can be reached. Forbidden ones beside
// it do not make the name forbidden: a later attempt may reach it.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if w, ok := ctx.Value(asking{}).(*wire); ok && w.sent.Load() >= tuning.AttemptSends {
		return nil, errTurnedAway
	}
	var allowed atomic.Bool
	connector := net.Dialer{Timeout: tuning.ReceiverConnectTimeout, KeepAlive: tuning.ReceiverKeepAlive,
		Control: func(network, address string, raw syscall.RawConn) error {
			err := d.rule.Safe(network, address, raw)
			if err == nil {
				allowed.Store(true)
			}
			return err
		}}
	conn, err := connector.DialContext(ctx, network, address)
	if err != nil && allowed.Load() && send.Classify(err) == delivery.BlockedAddress {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errUnreached}
	}
	return conn, err
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
