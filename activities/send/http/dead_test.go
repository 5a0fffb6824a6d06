package httpsend

import (
	"crypto/tls"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/wakecall/wakecall/activities/send/sendtest"
)

// A receiver may be gone without closing its connection. HTTP/1 gives that up with the attempt.
// HTTP/2 would use it for the next attempts too, though a new connection would deliver them.
func TestADeadHTTP2ConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t, "ours")
	certificate, key := ours.sign(nil)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	require.NoError(t, err)
	var first atomic.Bool
	first.Store(true)
	over := make(chan struct{})
	defer close(over)
	h := sendtest.NewHostile(t, "127.0.0.1:0", sendtest.OverTLS(
		&tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
		func(c *sendtest.Conn) {
			dies := first.Swap(false)
			converse2(c, make(chan struct{}, 100), func(_ *http2.Framer, stream uint32) bool {
				if dies && stream > 1 {
					<-over
				}
				return dies && stream > 1
			})
		}))
	base := roundTripper([]netip.Prefix{onlyOne}, ours.pool())
	base.HTTP2.SendPingTimeout /= 10 // a test does not wait for long
	base.HTTP2.PingTimeout /= 10
	resent := 0
	caller := &Transport{transports: newTransports(base, "test"), resent: func() { resent++ }}
	t.Cleanup(caller.Close)
	for range 3 {
		require.Equal(t, delivered, endOf(postTo(caller, "https://"+h.Addr, grace)))
	}
	require.Equal(t, 1, resent)
	require.Equal(t, 3, h.Accepted(), "the dead one, the one of the repetition, and the next one")
}
