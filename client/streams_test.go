package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// gateway answers each connection of a receiver in another way, and repeats the last way.
type gateway struct {
	*testing.T
	conns chan net.Conn
	ways  []func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	seen []*http.Request
}

func (g *gateway) Accept() (net.Conn, error) {
	conn, open := <-g.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (g *gateway) Close() error   { return nil }
func (g *gateway) Addr() net.Addr { return &net.TCPAddr{} }

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	way := g.ways[min(len(g.seen), len(g.ways)-1)]
	g.seen = append(g.seen, r)
	g.mu.Unlock()
	way(w, r)
}

// asked is the number of requests.
func (g *gateway) asked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.seen)
}

// open serves in the test's own time, and returns a client.
func open(t *testing.T, ways ...func(w http.ResponseWriter, r *http.Request)) (*gateway, *Client) {
	g := &gateway{T: t, conns: make(chan net.Conn), ways: ways}
	server := &http.Server{Handler: g}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(g) })
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		g.conns <- theirs
		return ours, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		close(g.conns)
		_ = server.Close()
		serving.Wait()
	})
	return g, New(Options{URL: "http://wakecall.test/", Key: "secret", HTTP: &http.Client{Transport: transport, Timeout: time.Second}})
}

// says sends these messages and pings, records the first answer, and then hangs up, or with its
// receiver.
func says(heard *[]string, messages ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for _, message := range messages {
			_ = ws.Write(context.Background(), websocket.MessageText, []byte(message))
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go pings(ctx, ws, tuning.StreamPing)
		if _, text, err := ws.Read(ctx); err == nil {
			*heard = append(*heard, string(text))
		}
	}
}

// pings sends a ping at this interval until ctx ends, or its receiver is gone.
func pings(ctx context.Context, ws *websocket.Conn, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if ws.Ping(ctx) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func refuses(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// A receiver gets its rings unchanged, and its answers go back. A connection outlasts the
// timeout of calls. After its end the client reconnects, unless that cannot help.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		g, c := open(t,
			says(&heard, `{"closing":"soon"}`, `{"refused":"9","problem":{}}`, `no JSON`,
				`{"ring":"1","deadline":"2026-11-23T06:00:00.000Z","headers":{"webhook-id":"msg_1","Content-Type":"text/plain"},"body":"ü"}`),
			refuses(409, `{"type":"urn:wakecall:problem:not-streamed","detail":"not yet"}`),
			refuses(502, `<html>`),
			says(&heard, `{"ring":"1","deadline":"2026-11-23T06:00:00.000Z","headers":{},"body_base64":"AAH/"}`),
			refuses(403, `{"type":"urn:wakecall:problem:forbidden","detail":"no"}`),
		)
		var rings []Ring
		var lost []string
		connected := 0
		err := c.Streams.Listen(t.Context(), "order", Receiver{
			Window: 3,
			Ring: func(_ context.Context, ring Ring) error {
				rings = append(rings, ring)
				if len(rings) == 1 {
					<-time.After(2 * DefaultTimeout)
					return errors.New("not now")
				}
				return nil
			},
			Connected: func() { connected++ },
			Lost:      func(err error, _ time.Duration) { lost = append(lost, err.Error()) },
		})
		var problem *Problem
		require.ErrorAs(t, err, &problem)
		require.Equal(t, wire.Code("forbidden"), problem.Code())
		require.Equal(t, []string{`{"nack":"1","reason":"not now"}`, `{"ack":"1"}`}, heard)
		require.Equal(t, 2, connected)
		require.Len(t, lost, 4)
		require.Equal(t, "not-streamed: not yet", lost[1])
		require.Contains(t, lost[2], "502")
		require.Equal(t, "ü", string(rings[0].Body))
		require.Equal(t, "msg_1", rings[0].Header.Get("Webhook-Id"))
		require.Equal(t, "2026-11-23T06:00:00Z", rings[0].Deadline.UTC().Format(time.RFC3339))
		require.Equal(t, []byte{0, 1, 255}, rings[1].Body)
		for _, request := range g.seen {
			require.Equal(t, "/v1/streams/order?window=3", request.RequestURI)
			require.Equal(t, "Bearer secret", request.Header.Get("Authorization"))
		}
	})
}

// The end of the context ends the connection and its rings.
func TestListenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		_, c := open(t, says(&heard, `{"ring":"1","deadline":"2026-11-23T06:00:00.000Z","headers":{},"body":""}`))
		ctx, cancel := context.WithCancel(t.Context())
		err := c.Streams.Listen(ctx, "order", Receiver{Ring: func(ctx context.Context, _ Ring) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}})
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.Empty(t, heard, "what broke off says nothing")
	})
}

// A gateway that stands still keeps its connections open and sends nothing. The next connection
// may have a better one. A gateway that pings late is none of these.
func TestAGatewayThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lasts = 10 * time.Minute
		ended := t.Context()
		standsStill := func(w http.ResponseWriter, r *http.Request) {
			if ws, err := websocket.Accept(w, r, nil); err == nil {
				defer func() { _ = ws.CloseNow() }()
				<-ended.Done()
			}
		}
		takesNothing := func(http.ResponseWriter, *http.Request) { <-ended.Done() }
		pingsLate := func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer func() { _ = ws.CloseNow() }()
			ctx, cancel := context.WithTimeout(ws.CloseRead(context.Background()), lasts)
			defer cancel()
			pings(ctx, ws, pingsWithin-time.Millisecond)
		}
		_, c := open(t, standsStill, takesNothing, pingsLate, refuses(403, `{"type":"urn:wakecall:problem:forbidden","detail":"no"}`))
		var lost []error
		var lasted []time.Duration
		began := time.Now()
		err := c.Streams.Listen(ended, "order", Receiver{Lost: func(err error, next time.Duration) {
			lost, lasted = append(lost, err), append(lasted, time.Since(began))
			began = time.Now().Add(next)
		}})
		require.ErrorContains(t, err, "forbidden")
		require.Len(t, lost, 3)
		require.Equal(t, []error{silence(pingsWithin), silence(pingsWithin)}, lost[:2])
		require.True(t, Unavailable(lost[0]))
		require.False(t, isSilence(lost[2]), "late pings are pings")
		require.Equal(t, []time.Duration{pingsWithin, pingsWithin, lasts}, lasted)
	})
}

// Two pings must fit into the time: one may be late.
func TestPingsAreInTime(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2*tuning.StreamPing, pingsWithin)
}

func TestWordsOfAReceiver(t *testing.T) {
	t.Parallel()
	require.Equal(t, streamAnswer{Ack: "1"}, answerOf("1", nil))
	require.Equal(t, streamAnswer{Nack: "1", Reason: "a b"}, answerOf("1", errors.New("a\nb")))
	require.Equal(t, streamAnswer{Ack: "1", Stop: true}, answerOf("1", Stop(nil)))
	require.Equal(t, streamAnswer{Nack: "1", Reason: "no", Stop: true}, answerOf("1", Stop(errors.New("no"))))
	nack := &Nack{Reason: "later", Delay: 2 * delivery.MaxRetryAfter, NoRetry: true}
	require.Equal(t, streamAnswer{Nack: "1", Reason: "around: later", Delay: wire.Duration(delivery.MaxRetryAfter), NoRetry: true}, answerOf("1", fmt.Errorf("around: %w", nack)))
	require.Zero(t, answerOf("1", &Nack{Delay: -1}).Delay)
}
