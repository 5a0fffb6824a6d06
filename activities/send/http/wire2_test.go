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
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
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
			url, pool, sent := wiretap2(t, func(conn int, out *http2.Framer, stream uint32) bool {
				if conn > 1 || stream == 1 {
					return false
				}
				c.leave(out, stream)
				return true
			})
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

// A receiver that turns every request away is not asked again and again: net/http would open a new
// connection each time, thousands within one attempt.
func TestAReceiverThatTurnsEveryRequestAway(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"a payload": "x", "no payload": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, pool, sent := wiretap2(t, func(_ int, out *http2.Framer, _ uint32) bool {
				_ = out.WriteGoAway(0, http2.ErrCodeNo, nil)
				return true
			})
			caller := New(Config{Allowed: []netip.Prefix{loopback}, Roots: pool, Resent: func() {}})
			t.Cleanup(caller.Close)
			for range 2 {
				require.Equal(t, delivery.Answer{Class: delivery.BrokenAnswer}, postBody(caller, url, body, 10*time.Second).Answer)
				require.LessOrEqual(t, len(sent), tuning.AttemptSends)
				for len(sent) > 0 {
					<-sent
				}
			}
		})
	}
}

// A receiver that refuses each stream has turned the request away. It is not one that is silent.
func TestAReceiverThatRefusesEveryStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    string
		refuses func(sent int) bool // whether it refuses a request, or is silent
		want    delivery.FailureClass
	}{
		"a payload":                  {"x", func(int) bool { return true }, delivery.BrokenAnswer},
		"no payload":                 {"", func(int) bool { return true }, delivery.BrokenAnswer},
		"silent":                     {"x", func(int) bool { return false }, delivery.Timeout},
		"silent, no payload":         {"", func(int) bool { return false }, delivery.Timeout},
		"refused, and silent then":   {"x", func(sent int) bool { return sent == 1 }, delivery.Timeout},
		"refused twice, then silent": {"x", func(sent int) bool { return sent <= 2 }, delivery.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			url, pool, _ := wiretap2(t, func(_ int, out *http2.Framer, stream uint32) bool {
				for sent, ok := 1, true; ok && c.refuses(sent); sent++ {
					_ = out.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
					stream, ok = request2(out)
				}
				<-ended
				return true
			})
			t.Cleanup(func() { close(ended) })
			caller := New(Config{Allowed: []netip.Prefix{loopback}, Roots: pool, Resent: func() {}})
			t.Cleanup(caller.Close)
			require.Equal(t, delivery.Answer{Class: c.want}, postBody(caller, url, c.body, 2*time.Second).Answer)
		})
	}
}

// A receiver that serves one stream at a time is not taken for one that turns requests away: many
// attempts at once fill each other's connections, and open further ones.
func TestAReceiverThatServesOneStreamAtATime(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-time.After(5 * time.Millisecond) // meanwhile the connection is full
	}))
	server.EnableHTTP2, server.Config.HTTP2 = true, &http.HTTP2Config{MaxConcurrentStreams: 1}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	var resent atomic.Int32
	caller := New(Config{Allowed: []netip.Prefix{loopback}, Roots: pool, Resent: func() { resent.Add(1) }})
	t.Cleanup(caller.Close)
	const attempts = 50
	ended := make(chan delivery.Answer, attempts)
	for range attempts {
		go func() { ended <- postTo(caller, server.URL, time.Minute).Answer }()
	}
	for range attempts {
		require.Equal(t, delivery.Answer{Delivered: true, Status: 200}, <-ended)
	}
	require.Zero(t, resent.Load(), "no connection was refused to an attempt")
}

// wiretap2 is an HTTP/2 receiver. leaves reports whether it leaves at a request of its n-th
// connection (from 1). Every request is sent to the channel.
func wiretap2(t *testing.T, leaves func(conn int, out *http2.Framer, stream uint32) bool) (
	url string, pool *x509.CertPool, sent chan struct{},
) {
	lender := httptest.NewTLSServer(http.NotFoundHandler())
	defer lender.Close()
	pool = x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: lender.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	sent = make(chan struct{}, 10*tuning.AttemptSends)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			converse2(conn, sent, func(out *http2.Framer, stream uint32) bool { return leaves(n, out, stream) })
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
			select {
			case sent <- struct{}{}:
			default: // that many are too many for every test
			}
		}
		if ping, ok := frame.(*http2.PingFrame); ok && !ping.IsAck() {
			_ = framer.WritePing(true, ping.Data)
		}
		if !ends(frame) {
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

// request2 reads a whole request, and returns its stream; ok is false if none comes any more.
func request2(in *http2.Framer) (stream uint32, ok bool) {
	for {
		frame, err := in.ReadFrame()
		if err != nil {
			return 0, false
		}
		if ends(frame) {
			return frame.Header().StreamID, true
		}
	}
}

// ends reports whether a frame is the last one of a request.
func ends(frame http2.Frame) bool {
	switch frame := frame.(type) {
	case *http2.DataFrame:
		return frame.StreamEnded()
	case *http2.HeadersFrame:
		return frame.StreamEnded()
	default:
		return false
	}
}
