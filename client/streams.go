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

// Streams connect receivers that nobody can call.
type Streams struct{ caller *caller }

// Ring is a message for a receiver that has connected: what a callback has as its headers
// and body.
type Ring struct {
	// ID is that of the ring on its connection.
	ID string
	// Deadline is until when it must be answered, by Wakecall's clock.
	Deadline time.Time
	Header   http.Header
	Body     []byte
}

// Nack is the error of a receiver that does not take a ring. Any other error is one
// without a delay, of which the text is the reason.
type Nack struct {
	Reason string
	// Delay is how long the timer shall wait at least before it comes again, up to an hour.
	Delay time.Duration
	// NoRetry lets the timer fail for good.
	NoRetry bool
}

func (n *Nack) Error() string { return n.Reason }

// Stop is the word of a receiver that wants no further occurrence of a recurring timer. err is
// what it would return otherwise.
func Stop(err error) error { return &stop{err} }

type stop struct{ error }

func (s *stop) Unwrap() error { return s.error }

// Receiver is rung over its connection.
type Receiver struct {
	// Window is how many rings it takes at once; 0 for Wakecall's default.
	Window int
	// Ring takes a ring: nil is an ack. It is called by many goroutines at once. Its
	// context ends with the connection, by which time another receiver may have the ring.
	Ring func(ctx context.Context, ring Ring) error
	// Connected and Lost, unless they are nil, are told of each connection: that it is
	// there, and why it ended and when the next one is tried.
	Connected func()
	Lost      func(err error, next time.Duration)
}

// Listen connects a receiver of a business type, and again whenever its connection ends,
// until ctx does. Its error is that of ctx, or a [*Problem] that no other try would mend.
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

// steady is how long a connection must have lasted for the next one to be tried at once.
const steady = 10 * time.Second

// final is whether connecting again would not help: a policy may still come.
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
	// The timeout of a call is none for a connection, which has its pings.
	patient := *s.caller.HTTP
	patient.Timeout = 0
	opening, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	ws, response, err := websocket.Dial(opening, target, &websocket.DialOptions{HTTPClient: &patient, HTTPHeader: header})
	if err != nil {
		return refusedBy(response, err)
	}
	ws.SetReadLimit(maxRing)
	if receiver.Connected != nil {
		receiver.Connected()
	}
	c := &connection{ws: ws, receiver: receiver}
	return c.serve(ctx)
}

// maxRing is above the largest ring: a payload of 64 KiB of which every byte is escaped, and
// its headers.
const maxRing = 1 << 20

// refusedBy is the problem that Wakecall answered in place of a connection.
func refusedBy(response *http.Response, err error) error {
	if response == nil || response.Body == nil || response.StatusCode == http.StatusSwitchingProtocols {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			return failed.Err // the rest is the library's
		}
		return err
	}
	text, _ := io.ReadAll(response.Body) // the library keeps the first kilobyte
	_ = response.Body.Close()
	return problemIn(response, text)
}

// connection is one of a receiver's.
type connection struct {
	ws       *websocket.Conn
	receiver Receiver
	rings    sync.WaitGroup
}

// streamMessage is what comes over a connection.
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
			return err
		}
		var m streamMessage
		if err := json.Unmarshal(text, &m); err != nil || m.Ring == "" { // it is about the connection, or a refused answer
			continue
		}
		c.rings.Go(func() { c.answer(within, m) })
	}
}

// answer hands a ring to the receiver, and its word back. An answer that cannot be sent
// any more is lost with its connection, and the ring comes again.
func (c *connection) answer(ctx context.Context, m streamMessage) {
	ring := Ring{ID: m.Ring, Deadline: m.Deadline.Time(), Header: http.Header{}, Body: m.BodyBase64}
	if m.BodyBase64 == nil {
		ring.Body = []byte(m.Body)
	}
	for name, value := range m.Headers {
		ring.Header.Set(name, value)
	}
	err := c.receiver.Ring(ctx, ring)
	if ctx.Err() != nil { // what broke off says nothing
		return
	}
	text, _ := json.Marshal(answerOf(m.Ring, err)) // it holds texts only
	_ = c.ws.Write(ctx, websocket.MessageText, text)
}

// streamAnswer is a receiver's word on a ring.
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
