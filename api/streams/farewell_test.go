package streams

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

// pipe is the answer to a request that becomes a WebSocket, without a network.
type pipe struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (p pipe) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return p.conn, bufio.NewReadWriter(bufio.NewReader(p.conn), bufio.NewWriter(p.conn)), nil
}

// connected is a receiver that is connected to a gateway. ended is closed once its socket is.
func connected(t *testing.T) (receiver net.Conn, lines *bufio.Reader, ended chan struct{}) {
	t.Helper()
	s := &Receivers{
		hub: stream.NewHub(stream.Bounds{Connections: 1, PerType: 1}, func(string, int) {}),
		policy: func(context.Context, string) (policy.Policy, error) {
			return policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, nil
		},
	}
	receiver, gateway := net.Pipe()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
	} {
		r.Header.Set(name, value)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.upgrade(echo.New().NewContext(r, pipe{httptest.NewRecorder(), gateway}), "order", 1)
	}()
	return receiver, bufio.NewReader(receiver), ended
}

// frame is a frame of a receiver: the mask is zero.
func frame(opcode byte, text string) []byte {
	return append([]byte{0x80 | opcode, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
}

// next is the opcode and the payload of the gateway's next frame.
func next(t *testing.T, from *bufio.Reader) (opcode byte, payload string) {
	t.Helper()
	head := make([]byte, 2)
	_, err := io.ReadFull(from, head)
	require.NoError(t, err)
	size := int(head[1])
	if size == 126 {
		_, err = io.ReadFull(from, head[:2])
		require.NoError(t, err)
		size = int(head[0])<<8 | int(head[1])
		head[0] = 0x80 | 1
	}
	text := make([]byte, size)
	_, err = io.ReadFull(from, text)
	require.NoError(t, err)
	return head[0] & 0x0f, string(text)
}

// A receiver that is let go is told why, and nothing else. The gateway does not wait long for one
// that does not answer, or that does not even read.
func TestAReceiverThatIsLetGo(t *testing.T) {
	t.Parallel()
	const text, binary, closing = 1, 2, 8
	for name, c := range map[string]struct {
		sent  []byte
		reads bool
		code  websocket.StatusCode
		told  string
	}{
		"a binary message":         {sent: frame(binary, "{}"), reads: true, code: websocket.StatusUnsupportedData},
		"no answer":                {sent: frame(text, "hello"), reads: true, code: websocket.StatusPolicyViolation, told: "malformed-request"},
		"a ring that was not sent": {sent: frame(text, `{"ack":"7"}`), reads: true, code: websocket.StatusPolicyViolation, told: "not-found"},
		"it reads nothing":         {sent: frame(binary, "{}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // its parts end in any order
				synctest.Test(t, func(t *testing.T) {
					receiver, lines, ended := connected(t)
					_, err := receiver.Write(c.sent)
					require.NoError(t, err)
					sent := time.Now()
					if c.told != "" {
						opcode, payload := next(t, lines)
						require.Equal(t, byte(text), opcode)
						require.Contains(t, payload, c.told)
					}
					if c.reads {
						opcode, payload := next(t, lines)
						require.Equal(t, byte(closing), opcode, payload)
						require.Equal(t, c.code, websocket.StatusCode(payload[0])<<8|websocket.StatusCode(payload[1]))
						require.False(t, strings.Contains(payload, "shutting down"), payload)
					}
					<-ended
					require.LessOrEqual(t, time.Since(sent), tuning.StreamFarewell)
					require.NoError(t, receiver.Close())
				})
			}
		})
	}
}

// A socket that ends sends nothing about the gateway: its receiver would take that for the reason.
func TestASocketThatEndsSaysNothingOfTheGateway(t *testing.T) {
	t.Parallel()
	connection, err := stream.NewHub(stream.Bounds{Connections: 1, PerType: 1}, func(string, int) {}).Join("order", 1)
	require.NoError(t, err)
	s := &socket{connection: connection}
	s.over.Store(true)
	connection.Close()
	require.ErrorIs(t, s.write(t.Context()), stream.ErrLeaving)
}
