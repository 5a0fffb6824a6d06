package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Streams connects receivers that cannot be called.
type Streams struct{ caller *caller }

// Ring is a message for a connected receiver, with the headers and the body of a callback.
type Ring struct {
	// ID identifies the ring on its connection.
	ID string
	// Deadline is the time by which it must be answered, by Wakecall's clock.
	Deadline time.Time
	Header   http.Header
	Body     []byte
}

// Nack is the error of a receiver that does not take a ring. Any other error is one without a
// delay, with its text as the reason.
type Nack struct {
	Reason string
	// Delay is the shortest wait before the timer comes again, up to an hour.
	Delay time.Duration
	// NoRetry makes the timer fail for good.
	NoRetry bool
}

func (n *Nack) Error() string { return n.Reason }

// Stop returns the result of a receiver that wants no further occurrence of a recurring timer.
// err is its result for this ring.
func Stop(err error) error { return &stop{err} }

type stop struct{ error }

func (s *stop) Unwrap() error { return s.error }

// Receiver gets rings over its connection.
type Receiver struct {
	// Window is how many rings it takes at once; 0 for Wakecall's default.
	Window int
	// Ring takes a ring; nil acknowledges it. It is called by many goroutines at once. Its
	// context ends with the connection. Another receiver may already have the ring. The next
	// connection begins when all calls have ended.
	Ring func(ctx context.Context, ring Ring) error
	// Connected and Lost, unless nil, are called for each connection. Lost gets the reason for
	// its end and the time until the next try.
	Connected func()
	Lost      func(err error, next time.Duration)
}

// Listen connects a receiver of a business type, and reconnects it until ctx ends. A gateway that
// sends nothing for 30 seconds, not even a ping, has lost the connection too. Listen returns
// the error of ctx, or a [*Problem] that a retry cannot solve, once all calls of Ring have ended.
func (s Streams) Listen(ctx context.Context, businessType string, receiver Receiver) error {
	for try := 1; ; try++ {
		began := time.Now()
		err := s.connect(ctx, businessType, receiver)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if problem, ok := errors.AsType[*Problem](err); ok && problem.final() {
			return problem
		}
		if time.Since(began) > steady {
			try = 1
		}
		next := pause(try, err)
		if receiver.Lost != nil {
			receiver.Lost(err, next)
		}
		if err := sleep(ctx, next); err != nil {
			return err
		}
	}
}

// steady is how long a connection must have lasted for an immediate reconnect.
const steady = 10 * time.Second

// pingsWithin is how long a gateway may send nothing. A healthy one sends a ping twice in this time.
const pingsWithin = 30 * time.Second

// final reports whether a reconnect cannot help. A missing policy may still come.
func (p *Problem) final() bool {
	switch p.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

func (s Streams) connect(ctx context.Context, businessType string, receiver Receiver) error {
	target := "ws" + strings.TrimPrefix(s.caller.URL, "http") + "/v1/streams/" + url.PathEscape(businessType)
	if receiver.Window > 0 {
		target += "?window=" + strconv.Itoa(receiver.Window)
	}
	header := http.Header{}
	if s.caller.Key != "" {
		header.Set("Authorization", "Bearer "+s.caller.Key)
	}
	// A connection has pings instead of the timeout of a call.
	patient := *s.caller.HTTP
	patient.Timeout = 0
	within, heard, cancel := listening(ctx, pingsWithin)
	defer cancel()
	ws, response, err := websocket.Dial(within, target, &websocket.DialOptions{
		HTTPClient: &patient, HTTPHeader: header,
		OnPingReceived: func(context.Context, []byte) bool {
			heard.await()
			return true
		},
	})
	if err != nil {
		return brokenBy(within, refusedBy(response, err))
	}
	heard.await()
	ws.SetReadLimit(maxRing)
	if receiver.Connected != nil {
		receiver.Connected()
	}
	c := &connection{ws: ws, receiver: receiver, heard: heard}
	return c.serve(within)
}

// maxRing exceeds the largest ring, in bytes: a payload of 64 KiB with every byte escaped, and
// its headers.
const maxRing = 1 << 20

// refusedBy returns the problem that refused a connection.
func refusedBy(response *http.Response, err error) error {
	if response == nil || response.Body == nil || response.StatusCode == http.StatusSwitchingProtocols {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			return failed.Err // the rest is the library's text
		}
		return err
	}
	text, _ := io.ReadAll(response.Body) // the library keeps the first kilobyte
	_ = response.Body.Close()
	return problemIn(response, text)
}

// connection is one connection of a receiver.
type connection struct {
	ws       *websocket.Conn
	receiver Receiver
	// heard ends the connection, unless the gateway sends something in time.
	heard patience
	rings sync.WaitGroup
}

// streamMessage is a message over a connection.
type streamMessage struct {
	Ring       string            `json:"ring"`
	Deadline   wire.Instant      `json:"deadline"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	BodyBase64 []byte            `json:"body_base64"`
}

// serve takes rings until the connection ends.
func (c *connection) serve(ctx context.Context) error {
	within, cancel := context.WithCancel(ctx)
	defer c.rings.Wait()
	defer cancel()
	for {
		_, text, err := c.ws.Read(within)
		if err != nil {
			_ = c.ws.CloseNow()
			return brokenBy(within, err)
		}
		c.heard.await()
		var m streamMessage
		if err := json.Unmarshal(text, &m); err != nil || m.Ring == "" { // concerns the connection, or a refused answer
			continue
		}
		c.rings.Go(func() { c.answer(within, m) })
	}
}

// answer passes a ring to the receiver, and sends its answer back. An answer that cannot be sent
// is lost, and the ring comes again.
func (c *connection) answer(ctx context.Context, m streamMessage) {
	ring := Ring{ID: m.Ring, Deadline: m.Deadline.Time(), Header: http.Header{}, Body: m.BodyBase64}
	if m.BodyBase64 == nil {
		ring.Body = []byte(m.Body)
	}
	for name, value := range m.Headers {
		ring.Header.Set(name, value)
	}
	err := c.receiver.Ring(ctx, ring)
	if ctx.Err() != nil { // the result of a broken ring is meaningless
		return
	}
	text, _ := json.Marshal(answerOf(m.Ring, err)) // holds texts only
	_ = c.ws.Write(ctx, websocket.MessageText, text)
}

// streamAnswer is a receiver's answer to a ring.
type streamAnswer struct {
	Ack     string        `json:"ack,omitzero"`
	Nack    string        `json:"nack,omitzero"`
	Reason  string        `json:"reason,omitzero"`
	Delay   wire.Duration `json:"delay,omitzero"`
	NoRetry bool          `json:"no_retry,omitzero"`
	Stop    bool          `json:"stop,omitzero"`
}

func answerOf(ring string, err error) streamAnswer {
	if last, ok := errors.AsType[*stop](err); ok {
		answer := answerOf(ring, last.error)
		answer.Stop = true
		return answer
	}
	if err == nil {
		return streamAnswer{Ack: ring}
	}
	answer := streamAnswer{Nack: ring, Reason: wire.Excerpt(err.Error())}
	if nack, ok := errors.AsType[*Nack](err); ok {
		answer.Delay, answer.NoRetry = wire.Duration(min(max(nack.Delay, 0), delivery.MaxRetryAfter)), nack.NoRetry
	}
	return answer
}
