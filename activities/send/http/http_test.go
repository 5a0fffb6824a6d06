package httpsend

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

var loopback = netip.MustParsePrefix("127.0.0.0/8")

func callerTo(t *testing.T, allowed ...netip.Prefix) *Transport {
	transport := New(Config{Allowed: allowed, UserAgent: "test", Resent: func() {}})
	t.Cleanup(transport.Close)
	return transport
}

func postTo(c *Transport, url string, timeout time.Duration) send.Outcome {
	return postBody(c, url, "x", timeout)
}

func postBody(c *Transport, url, body string, timeout time.Duration) send.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return c.Send(ctx, send.Envelope{
		Destination: delivery.HTTP(url), Body: []byte(body), Headers: map[string]string{send.HeaderWebhookID: "msg_1", send.HeaderAttempt: "1"},
	})
}

// The beginning of a failed answer is kept if it is text.
func TestTheTextOfAFailure(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 8<<10)
	for status, want := range map[int]string{503: body[:delivery.MaxAnswer], 200: ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer server.Close()
		sent := postTo(callerTo(t, loopback), server.URL, time.Minute)
		require.Equal(t, want, sent.Text)
	}
}

// No connection ever reaches an address that was not allowed, however its URL is written:
// the listener counts its connections.
func TestForbiddenAddressesAreNeverReached(t *testing.T) {
	t.Parallel()
	listener, accepted := counting(t)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	strict := callerTo(t)
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.1", "2130706433", "0x7f000001",
		"0177.0.0.1", "0.0.0.0", "[::]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
	} {
		x := postTo(strict, "http://"+host+":"+port+"/", time.Second)
		require.NotEqual(t, delivery.NoFailure, x.Class, host)
		require.True(t, x.FirstByte.IsZero(), host)
	}
	require.Zero(t, accepted.Load())

	postTo(callerTo(t, loopback), "http://127.0.0.1:"+port+"/", 100*time.Millisecond)
	require.NotZero(t, accepted.Load(), "the oracle sees a connection that is allowed")
}

func counting(t *testing.T) (net.Listener, *atomic.Int64) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepted atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return listener, &accepted
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	t.Parallel()
	require.Nil(t, roundTripper(nil, nil).Proxy, "a proxy would take the address check with it")
}

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	caller := callerTo(t, loopback)
	const timeout = 300 * time.Millisecond
	for name, c := range map[string]struct {
		serve  http.HandlerFunc
		status int
		class  delivery.FailureClass
	}{
		"endless body": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1024)); err != nil {
					return
				}
			}
		}, 200, ""},
		"a byte at a time": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
				<-time.After(10 * time.Millisecond)
			}
		}, 202, ""},
		"gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_ = http.NewResponseController(w).Flush()
			z := gzip.NewWriter(w)
			_, _ = io.CopyN(z, zeros{}, 64<<20)
			_ = z.Close()
		}, 200, ""},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 64<<10))
		}, 0, delivery.BrokenAnswer},
		"silence":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, delivery.Timeout},
		"not HTTP": {hijack(func(rw *bufio.ReadWriter) { _, _ = rw.WriteString("SSH-2.0-OpenSSH\r\n") }), 0, delivery.BrokenAnswer},
		"hang up":  {hijack(func(*bufio.ReadWriter) {}), 0, delivery.BrokenAnswer},
		"another protocol": {hijack(func(rw *bufio.ReadWriter) {
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: silence\r\n\r\n")
			_ = rw.Flush()
			_, _ = rw.ReadByte() // until the other side hangs up
		}), 101, delivery.Answered},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		}, 307, delivery.Answered},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // a server sees its client leave only once it has read the body
				c.serve(w, r)
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			began := time.Now()
			x := postTo(caller, server.URL, timeout)
			require.Equal(t, c.status, x.Status)
			require.Equal(t, c.class, x.Class)
			require.Less(t, time.Since(began), timeout+2*time.Second, "the slot is free again")
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func hijack(write func(*bufio.ReadWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		write(rw)
		_ = rw.Flush()
		_ = conn.Close()
	}
}

// No receiver is asked to compress: callbacks, alerts and outcomes are posts, questions to
// loaders are not, and a policy's TLS has a separate connection.
func TestNobodyIsAskedToCompress(t *testing.T) {
	t.Parallel()
	asked := make(chan []string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- append([]string{r.Method}, r.Header.Values("Accept-Encoding")...)
	}))
	defer server.Close()
	caller := callerTo(t, loopback)
	for method, e := range map[string]send.Envelope{
		http.MethodPost: {Body: []byte("x")}, http.MethodGet: {Ask: true, Answer: 100},
	} {
		for _, added := range []*policy.TLS{nil, {}} {
			e.Destination, e.TLS = delivery.HTTP(server.URL), added
			require.True(t, caller.Send(t.Context(), e).Delivered)
			require.Equal(t, []string{method, "identity"}, <-asked)
		}
		outcome := post(t.Context(), caller.transports.common.fresh, e)
		require.NoError(t, outcome.err)
		require.Equal(t, []string{method, "identity"}, <-asked, "nor on a new connection")
	}
}

func TestAnswerIsReadAsItIs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, []string{"identity"}, r.Header.Values("Accept-Encoding"))
		require.Equal(t, "test", r.UserAgent())
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	x := postTo(callerTo(t, loopback), server.URL, time.Second)
	require.Equal(t, delivery.Answer{Class: delivery.Answered, Status: 503, Detail: "HTTP 503", RetryAfter: 7 * time.Second}, x.Answer)
	require.False(t, x.FirstByte.IsZero())
	require.False(t, x.Ended.Before(x.FirstByte))
}

// A connection is used again if the rest of an answer fits into the read limit.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	caller := callerTo(t, loopback)
	for range 10 {
		require.Equal(t, 200, postTo(caller, server.URL, time.Second).Status)
	}
	require.EqualValues(t, 1, connections.Load())
}
