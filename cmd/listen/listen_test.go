package listen

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/stream"
)

// nothing has the unused parts of a gateway.
type nothing struct {
	timers.Timers
	timers.Failures
}

func (nothing) Requested(string, string, int, time.Duration) {}
func (nothing) Handler() http.Handler                        { return http.NotFoundHandler() }

// text is the output of a command so far.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *text) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// listening is the command, a gateway and a local server.
type listening struct {
	*testing.T
	hub     *stream.Hub
	printed *text
	// status and header are the local server's answer, and got is its last request.
	status int
	header http.Header
	got    *http.Request
	body   string
}

func listens(t *testing.T, forwards bool) *listening {
	l := &listening{T: t, hub: stream.NewHub(stream.Bounds{Connections: 1, PerType: 1}, func(string, int) {}), printed: &text{}, status: 200}
	gateway := httptest.NewServer(api.New(api.Options{
		Timers:     timers.Options{Timers: nothing{}, Failures: nothing{}},
		Front:      front.Options{Telemetry: nothing{}, Auth: auth.Anyone(), Logger: slog.New(slog.DiscardHandler)},
		Operations: operations.Options{Ready: func(context.Context) error { return nil }},
		Streams: streams.Options{Hub: l.hub, Policy: func(context.Context, string) (policy.Policy, error) {
			return policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, nil
		}},
		EndWaits: func() {},
	}).Handler())
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.got, l.body = r, string(body)
		for name := range l.header {
			w.Header().Set(name, l.header.Get(name))
		}
		w.WriteHeader(l.status)
	}))
	options := Options{Server: gateway.URL, BusinessType: "order"}
	if forwards {
		options.Forward = local.URL + "/hooks"
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, options, l.printed) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		gateway.Close()
		local.Close()
	})
	require.Eventually(t, func() bool { return strings.Contains(l.printed.String(), "connected: order at ") }, time.Minute, time.Millisecond, "it connects")
	return l
}

func (l *listening) ring() delivery.Answer {
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	return l.hub.Ring(ctx, "order", stream.Ring{ContentType: "application/json", Body: []byte(`{"n": 1}`), Headers: map[string]string{
		send.HeaderBusinessType: "order", send.HeaderBusinessID: "4711", send.HeaderAttempt: "2", "webhook-signature": "v1,x",
	}, Deadline: time.Now().Add(time.Minute)}).Answer
}

// A local server gets the request of a callback, and its answer has the same meaning.
func TestForward(t *testing.T) {
	l := listens(t, true)
	require.Equal(t, delivery.Answer{Delivered: true}, l.ring())
	require.Equal(t, []string{"POST", "/hooks", "application/json", "v1,x", "4711", `{"n": 1}`}, []string{
		l.got.Method, l.got.URL.Path, l.got.Header.Get("Content-Type"), l.got.Header.Get("Webhook-Signature"), l.got.Header.Get("Wakecall-Business-Id"), l.body,
	})
	require.Regexp(t, `(?m)^\d\d:\d\d:\d\d\.\d{3} order/4711, attempt 2: HTTP 200 in \d+`, l.printed.String())

	l.status, l.header = 503, http.Header{"Retry-After": {"7"}}
	require.Equal(t, delivery.Answer{Class: delivery.Refused, Detail: "HTTP 503", RetryAfter: 7 * time.Second}, l.ring())
	l.status, l.header = 409, http.Header{"Wakecall-No-Retry": {"true"}}
	require.True(t, l.ring().NoRetry)
	l.status, l.header = 204, http.Header{"Wakecall-Stop": {"true"}}
	require.Equal(t, delivery.Answer{Delivered: true, Stop: true}, l.ring())
	require.Contains(t, l.printed.String(), "HTTP 409, receiver asked for no retry in ")
}

// Without a server each ring is printed and acknowledged.
func TestNoForward(t *testing.T) {
	l := listens(t, false)
	require.Equal(t, delivery.Answer{Delivered: true}, l.ring())
	require.Contains(t, l.printed.String(), `order/4711, attempt 2: {"n": 1}`)
	require.Equal(t, "no body", brief(nil))
	require.Equal(t, strings.Repeat("x", longestShown)+"…", brief(bytes.Repeat([]byte("x"), 500)))
}

// A missing server is a reason like any other.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	f, err := newForwarder("http://127.0.0.1:1/")
	require.NoError(t, err)
	l := &listener{out: &text{}, forward: f}
	require.ErrorContains(t, l.ring(t.Context(), client.Ring{Header: http.Header{}}), "no answer: dial tcp 127.0.0.1:1")
}

func TestWhereToForward(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"127.0.0.1:3000", "ftp://h/", "/hooks", "http://"} {
		_, err := newForwarder(to)
		require.ErrorIs(t, err, errForward, to)
	}
}
