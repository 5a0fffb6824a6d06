package streams

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

// upgrade makes the request a WebSocket, and serves it until it ends.
func (s *Receivers) upgrade(c echo.Context, businessType string, window int) error {
	if err := checkHandshake(c.Request()); err != nil {
		return err
	}
	s.sockets.Add(1)
	defer s.sockets.Done()
	connection, err := s.join(businessType, window)
	if err != nil {
		return err
	}
	defer connection.Close()
	// Its own answer to what it refuses is plain text: all of that was asked before.
	writer := &hijacked{ResponseWriter: c.Response()}
	ws, err := websocket.Accept(writer, c.Request(), &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		answers.SetCause(c, err)
		return nil
	}
	ws.SetReadLimit(limits.MaxStreamAnswer)
	socket := &socket{ws: ws, conn: writer.conn, connection: connection, until: auth.From(c.Request().Context()).Ends,
		streamed: func(ctx context.Context) error { return s.streamed(ctx, businessType) }}
	answers.SetCause(c, socket.serve(context.WithoutCancel(c.Request().Context())))
	return nil
}

// hijacked knows the connection of the WebSocket that it became.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements [http.Hijacker].
func (h *hijacked) Hijack() (conn net.Conn, buffered *bufio.ReadWriter, err error) {
	conn, buffered, err = http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return conn, buffered, err
}

// checkHandshake refuses what is no opening of a WebSocket (RFC 6455, section 4.2.1).
func checkHandshake(r *http.Request) error {
	key := r.Header.Values("Sec-WebSocket-Key")
	switch {
	case !r.ProtoAtLeast(1, 1), !strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Connection"), ",")), "upgrade"):
		return &wire.Error{Code: problems.Malformed, Message: "A WebSocket needs HTTP/1.1 and Connection: Upgrade."}
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return &wire.Error{Code: problems.Malformed, Message: "A WebSocket needs Sec-WebSocket-Version: 13."}
	case len(key) != 1 || !isWebSocketKey(key[0]):
		return &wire.Error{Code: problems.Malformed, Message: "A WebSocket needs one Sec-WebSocket-Key of 16 bytes in base64."}
	}
	return nil
}

// isWebSocketKey reports whether a text is 16 bytes in base64.
func isWebSocketKey(text string) bool {
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	return err == nil && len(key) == limits.WebSocketKeyBytes
}

// socket is a receiver that is connected by a WebSocket.
type socket struct {
	ws *websocket.Conn
	// conn carries ws.
	conn       net.Conn
	connection *stream.Connection
	// streamed returns the error if the present policy has no stream.
	streamed func(context.Context) error
	// until is when the credentials of the receiver end, zero for never. expired reports whether
	// they have.
	until   time.Time
	expired atomic.Bool
	// over reports whether the socket ends for a reason that is sent to its receiver.
	over atomic.Bool
	// fault is why this gateway broke the connection off; nil if it did not.
	fault atomic.Pointer[ending]
}

// ending is the reason for the end of a socket, as it is sent to the receiver.
type ending struct {
	code   websocket.StatusCode
	reason string
}

func (e ending) Error() string { return e.reason }

// serve ends when the receiver leaves or misbehaves, or the gateway stops, and says why.
func (s *socket) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !s.until.IsZero() {
		defer time.AfterFunc(time.Until(s.until), s.expire).Stop()
	}
	ends := make(chan error, 3)
	var parts sync.WaitGroup
	for _, part := range []func(context.Context) error{s.read, s.write, s.watch} {
		parts.Go(func() { ends <- part(ctx) })
	}
	why := <-ends
	s.over.Store(true)
	s.connection.Close()
	s.close(why)
	cancel()
	parts.Wait()
	if fault := s.fault.Load(); fault != nil { // the reason says less
		return *fault
	}
	return why
}

// within breaks the connection off unless what begins now has ended in time: what waits for
// the receiver goes to another one.
func (s *socket) within(d time.Duration, fault string) (stop func() bool) {
	return time.AfterFunc(d, func() {
		s.fault.Store(&ending{reason: fault})
		_ = s.ws.CloseNow()
	}).Stop
}

// close tells the receiver why. It does not wait long for one that does not listen: the library
// itself would wait ten seconds, and meanwhile closes the socket for no other call.
func (s *socket) close(why error) {
	e, ok := errors.AsType[ending](why)
	if !ok { // the receiver has left, or cannot be reached
		_ = s.ws.CloseNow()
		return
	}
	_ = s.conn.SetDeadline(time.Now().Add(tuning.StreamFarewell))
	_ = s.ws.Close(e.code, e.reason)
}

// write sends rings as they come.
func (s *socket) write(ctx context.Context) error {
	for {
		ring, err := s.connection.Next(ctx)
		if errors.Is(err, stream.ErrLeaving) {
			if s.over.Load() {
				return err
			}
			return s.drain(ctx)
		}
		if err == nil {
			err = s.send(ctx, bodyOf(ring, strconv.FormatUint(ring.Number, 10)))
		}
		if err != nil {
			return err
		}
	}
}

// expire sends no more rings to a receiver that must authenticate again.
func (s *socket) expire() {
	s.expired.Store(true)
	s.connection.Retire()
}

// drain lets the receiver answer what it has, for a while.
func (s *socket) drain(ctx context.Context) error {
	gone := ending{websocket.StatusGoingAway, "the gateway is shutting down"}
	if s.expired.Load() {
		gone = ending{websocket.StatusPolicyViolation, "the token or certificate has expired"}
	}
	if err := s.send(ctx, closingBody{Closing: gone.reason}); err != nil {
		return err
	}
	select {
	case <-s.connection.Ended():
	case <-time.After(tuning.StreamDrain):
	case <-ctx.Done():
	}
	return gone
}

// send writes one message. A receiver that takes none for a while is let go.
func (s *socket) send(ctx context.Context, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	defer s.within(tuning.StreamWrite, "the receiver read nothing for "+tuning.StreamWrite.String())()
	return s.ws.Write(ctx, websocket.MessageText, text)
}

// read takes answers as they come.
func (s *socket) read(ctx context.Context) error {
	for {
		kind, text, err := s.ws.Read(ctx)
		if err != nil {
			return err
		}
		if kind != websocket.MessageText {
			return ending{websocket.StatusUnsupportedData, "send text messages"}
		}
		if err := s.receive(ctx, text); err != nil {
			return err
		}
	}
}

// receive reads one answer. One that comes too late is refused; one that cannot be meant
// well ends the connection.
func (s *socket) receive(ctx context.Context, text []byte) error {
	body, err := decode.Parse(text)
	var id string
	var answer delivery.RingAnswer
	if err == nil {
		id, answer, err = readAnswer(body)
	}
	if err == nil {
		err = give(s.connection, id, answer.Answer())
	}
	if err == nil {
		return nil
	}
	if err := s.send(ctx, refusedBody{Refused: wire.Clip(id, tuning.LoggedBytes), Problem: problems.DocumentOf(err)}); err != nil {
		return err
	}
	switch {
	case errors.Is(err, stream.ErrNeverSent):
		return ending{websocket.StatusPolicyViolation, "the ring was never sent on this connection"}
	case wire.CodeOf(err) == wire.RingOver:
		return nil
	default:
		return ending{websocket.StatusPolicyViolation, "the message is not an answer; the problem was sent before this"}
	}
}

// watch sees that the receiver is there, and that the policy still says what it said.
func (s *socket) watch(ctx context.Context) error {
	next := time.NewTicker(tuning.StreamPing)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.ping(ctx); err != nil {
			return err
		}
		switch wire.CodeOf(s.streamed(ctx)) {
		case wire.NotStreamed, wire.NotFound:
			return ending{websocket.StatusNormalClosure, "the policy no longer has \"stream\": true"}
		default: // it cannot be told
		}
	}
}

func (s *socket) ping(ctx context.Context) error {
	const fault = "the receiver did not answer a ping"
	defer s.within(tuning.StreamPong, fault)()
	err := s.ws.Ping(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // the library's own, for writing it
		s.fault.CompareAndSwap(nil, &ending{reason: fault})
	}
	return err
}

// closingBody tells a receiver that the hub is closed.
type closingBody struct {
	Closing string `json:"closing"`
}

// refusedBody tells a receiver that its answer was not taken.
type refusedBody struct {
	Refused string           `json:"refused"`
	Problem problem.Document `json:"problem"`
}

// isText reports whether a body can be a JSON string.
func isText(body string) bool { return utf8.ValidString(body) }
