package httpsend

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/wakecall/wakecall/core/delivery"
)

// With HTTP/2 net/http itself resends what the receiver did not look at. Including that, no
// attempt is sent more than twice.
func TestKeptHTTP2ConnectionThatBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave        func(*http2.Framer, uint32) // what the receiver does with its second request
		want         delivery.Answer
		sent, resent int
	}{
		"closed without a word": {func(*http2.Framer, uint32) {}, delivery.Answer{Delivered: true, Status: 200}, 3, 1},
		"left behind": {func(out *http2.Framer, stream uint32) {
			_ = out.WriteGoAway(stream, http2.ErrCodeNo, nil)
		}, delivery.Answer{Delivered: true, Status: 200}, 3, 1},
		"not looked at": {func(out *http2.Framer, stream uint32) {
			_ = out.WriteGoAway(stream-2, http2.ErrCodeNo, nil)
		}, delivery.Answer{Delivered: true, Status: 200}, 3, 0},
		"refused by itself": {func(out *http2.Framer, stream uint32) {
			_ = out.WriteRSTStream(stream, http2.ErrCodeInternal)
			_, _ = out.ReadFrame()
		}, delivery.Answer{Class: delivery.BrokenAnswer}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, pool, sent := wiretap2(t, c.leave)
			resent := 0
			caller := New(Config{Allowed: []netip.Prefix{loopback}, Roots: pool, Resent: func() { resent++ }})
			t.Cleanup(caller.Close)
			require.Equal(t, 200, postTo(caller, url, 2*time.Second).Status)
			require.Equal(t, c.want, postTo(caller, url, 2*time.Second).Answer)
			require.Equal(t, c.resent, resent)
			require.Len(t, sent, c.sent)
		})
	}
}

// wiretap2 is an HTTP/2 receiver that leaves at the second request of its first connection.
// Every request is sent to the channel.
func wiretap2(t *testing.T, leave func(*http2.Framer, uint32)) (url string, pool *x509.CertPool, sent chan struct{}) {
	lender := httptest.NewTLSServer(http.NotFoundHandler())
	defer lender.Close()
	pool = x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: lender.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	sent = make(chan struct{}, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for leaves := true; ; leaves = false {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			converse2(conn, sent, func(out *http2.Framer, stream uint32) bool {
				if leaves && stream > 1 {
					leave(out, stream)
				}
				return leaves && stream > 1
			})
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return "https://" + listener.Addr().String(), pool, sent
}

func converse2(conn net.Conn, sent chan<- struct{}, leaves func(*http2.Framer, uint32) bool) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			sent <- struct{}{}
		}
		if ping, ok := frame.(*http2.PingFrame); ok && !ping.IsAck() {
			_ = framer.WritePing(true, ping.Data)
		}
		if data, ok := frame.(*http2.DataFrame); !ok || !data.StreamEnded() {
			continue
		}
		if leaves(framer, frame.Header().StreamID) {
			return
		}
		var head bytes.Buffer
		_ = hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		_ = framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: frame.Header().StreamID, BlockFragment: head.Bytes(), EndHeaders: true, EndStream: true,
		})
	}
}
