package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	streamsend "github.com/wakecall/wakecall/activities/send/stream"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/stream"
)

// streamed is the policy of every type.
func streamed(context.Context, string) (policy.Policy, error) {
	return policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, nil
}

// words of a receiver for each behaviour that is an answer.
var answersFor = map[sendtest.Behaviour]string{
	sendtest.Accept:        `{"ack":"ID"}`,
	sendtest.Refuse:        `{"nack":"ID","reason":"the database is down"}`,
	sendtest.RefuseForGood: `{"nack":"ID","no_retry":true}`,
	sendtest.AskPatience:   `{"nack":"ID","delay":"7s"}`,
}

// listeners are receivers that connect by a WebSocket, one for each behaviour.
type listeners struct {
	t    *testing.T
	addr string
	stop context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex
	received []sendtest.Received
}

// typeOf is the business type of the receivers that behave so.
func typeOf(b sendtest.Behaviour) string { return strings.ReplaceAll(string(b), " ", "-") }

func (l *listeners) connect(ctx context.Context, b sendtest.Behaviour) *websocket.Conn {
	ws, _, err := websocket.Dial(ctx, "ws://"+l.addr+"/v1/streams/"+typeOf(b)+"?window=64", nil)
	require.NoError(l.t, err)
	ws.SetReadLimit(1 << 20)
	return ws
}

// listen behaves so until its connection ends.
func (l *listeners) listen(ctx context.Context, ws *websocket.Conn, b sendtest.Behaviour) {
	defer func() { _ = ws.CloseNow() }()
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			return
		}
		var ring streams.RingBody
		if json.Unmarshal(text, &ring) != nil || ring.Ring == "" {
			continue
		}
		l.note(ring)
		switch answer := answersFor[b]; {
		case b == sendtest.Break:
			return
		case answer != "":
			_ = ws.Write(ctx, websocket.MessageText, []byte(strings.ReplaceAll(answer, "ID", ring.Ring)))
		}
	}
}

func (l *listeners) note(ring streams.RingBody) {
	body, _ := base64.StdEncoding.DecodeString(ring.BodyBase64)
	if ring.Body != nil {
		body = []byte(*ring.Body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	contentType := ring.Headers["Content-Type"]
	delete(ring.Headers, "Content-Type")
	l.received = append(l.received, sendtest.Received{ID: ring.Headers[send.HeaderWebhookID], ContentType: contentType, Headers: ring.Headers, Body: body})
}

func (l *listeners) receivedAll() []sendtest.Received {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.received)
}

// open connects a receiver for each behaviour; one that breaks its connection comes back
// for as long as the test lasts.
func (l *listeners) open(hub *stream.Hub) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	for _, b := range sendtest.Behaviours() {
		if b == sendtest.Unreachable {
			continue
		}
		ws := l.connect(ctx, b)
		l.all.Go(func() { l.listen(ctx, ws, b) })
	}
	require.Len(l.t, hub.Connections(), len(sendtest.Behaviours())-1)
}

// The transport is held to the suite over real WebSockets.
func TestStreamConformance(t *testing.T) {
	sendtest.Run(t, func(t *testing.T) sendtest.Subject {
		hub := stream.NewHub(stream.Bounds{Connections: 100, PerType: 100}, func(string, int) {})
		server := New(Options{
			Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
			Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.Anyone()},
			Operations: operations.Options{Ready: func(context.Context) error { return nil }},
			Streams:    streams.Options{Hub: hub, Policy: streamed},
			EndWaits:   func() {},
		})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(listener) })
		l := &listeners{t: t, addr: listener.Addr().String()}
		l.open(hub)
		return sendtest.Subject{
			Transport: streamsend.New(hub), Received: l.receivedAll,
			Destination: func(b sendtest.Behaviour) (delivery.Destination, bool) {
				return delivery.Destination{Stream: true}.Routed(typeOf(b)), true
			},
			Close: func() {
				l.stop()
				l.all.Wait()
				require.NoError(t, server.Shutdown(context.WithoutCancel(t.Context())))
				serving.Wait()
			},
		}
	})
}
