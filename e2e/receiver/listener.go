package receiver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// Ring is one as a connected receiver gets it.
type Ring struct {
	Ring     string
	Deadline time.Time
	Headers  map[string]string
	Body     string
}

// ID is the business id of the ring.
func (r Ring) ID() string { return r.Headers["Wakecall-Business-Id"] }

// Listener is a receiver that is connected by a WebSocket.
type Listener struct {
	testing.TB

	Socket *websocket.Conn
	// Rings are those that have come. It is closed when the connection ends.
	Rings chan Ring
}

// Listen connects a receiver of a business type to the gateway at a URL.
func Listen(t testing.TB, url, businessType string) *Listener {
	t.Helper()
	ws, response, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/v1/streams/"+businessType, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	l := &Listener{TB: t, Socket: ws, Rings: make(chan Ring, 100)}
	t.Cleanup(func() { _ = ws.CloseNow() })
	go l.read(context.WithoutCancel(t.Context()))
	return l
}

func (l *Listener) read(ctx context.Context) {
	defer close(l.Rings)
	for {
		_, text, err := l.Socket.Read(ctx)
		if err != nil {
			return
		}
		var r Ring
		if json.Unmarshal(text, &r) == nil && r.Ring != "" {
			l.Rings <- r
		}
	}
}

// Next waits for the next ring.
func (l *Listener) Next() Ring {
	l.Helper()
	select {
	case r, open := <-l.Rings:
		require.True(l, open, "the connection ended")
		return r
	case <-time.After(process.Patience):
		require.Fail(l, "no ring came")
		return Ring{}
	}
}

// Say sends an answer.
func (l *Listener) Say(answer string) {
	l.Helper()
	require.NoError(l, l.Socket.Write(l.Context(), websocket.MessageText, []byte(answer)))
}

// Ack acknowledges a ring.
func (l *Listener) Ack(r Ring) { l.Helper(); l.Say(`{"ack":"` + r.Ring + `"}`) }

// AckNext acknowledges the next ring as it comes, unless the connection ends before.
func (l *Listener) AckNext() {
	if r, open := <-l.Rings; open {
		_ = l.Socket.Write(context.WithoutCancel(l.Context()), websocket.MessageText, []byte(`{"ack":"`+r.Ring+`"}`))
	}
}
