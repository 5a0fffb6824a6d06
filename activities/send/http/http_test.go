package httpsend

import (
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

func TestNoProxyFromTheEnvironment(t *testing.T) {
	t.Parallel()
	require.Nil(t, roundTripper(nil, nil).Proxy, "a proxy would take the address check with it")
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

// The status line decides, also of a redirect to what is no URL.
func TestARedirectToNowhere(t *testing.T) {
	t.Parallel()
	caller := callerTo(t, loopback)
	for _, location := range []string{"http://[::1", "%zz", ":", "/elsewhere", ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.Header().Set(HeaderNoRetry, "true")
			w.WriteHeader(http.StatusFound)
			_, _ = w.Write([]byte("moved"))
		}))
		defer server.Close()
		require.Equal(t, delivery.Answer{
			Class: delivery.Answered, Status: 302, Detail: "HTTP 302, receiver asked for no retry", NoRetry: true, Text: "moved",
		}, postTo(caller, server.URL, time.Minute).Answer, location)
	}
}
