package streams

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/streams"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
)

const streamsPath = paths.Prefix + "streams"

// pollIDParts is the number of parts of a ring's id: a gateway, a connection and a number.
const pollIDParts = 3

// Receivers let receivers connect, by a WebSocket or by long polls.
type Receivers struct {
	hub *stream.Hub
	// policy is the live policy of a business type.
	policy func(ctx context.Context, businessType string) (policy.Policy, error)
	// gateway is the name of this process, and elsewhere answers what another one gave.
	gateway   string
	elsewhere func(ctx context.Context, answer delivery.RingAnswer) error
	// sockets are those that are open: Go's server forgets a connection that is no HTTP
	// any more.
	sockets sync.WaitGroup
}

// Options is what the calls of receivers that connect need.
type Options struct {
	// Hub has the connected receivers. It is nil if none can connect.
	Hub *stream.Hub
	// Policy returns the policy of a business type. It may be a few seconds old.
	Policy func(ctx context.Context, businessType string) (policy.Policy, error)
	// Gateway is the name of this process among others.
	Gateway string
	// AnswerElsewhere brings an answer to a ring to the gateway that gave the ring.
	AnswerElsewhere func(ctx context.Context, answer delivery.RingAnswer) error
}

// Register adds the calls of receivers that connect, and returns those receivers.
func Register(contract calls.Routes, options Options) *Receivers {
	s := &Receivers{hub: options.Hub, policy: options.Policy, gateway: options.Gateway, elsewhere: options.AnswerElsewhere}
	if s.hub == nil {
		s.hub = stream.NewHub(stream.Bounds{}, func(string, int) {})
	}
	r := contract.Under(streamsPath)
	r.Get("/:type", calls.Receiving(calls.OnlyPayloads), s.connect)
	r.Post("/:type/answers", calls.Receiving(calls.NoPayloads).Accepting(calls.Body), s.answer)
	return s
}

// Drain has the receivers answer what they have. No more rings come to them.
func (s *Receivers) Drain() { s.hub.Drain() }

// Wait waits until every socket has ended, unless ctx is done first.
func (s *Receivers) Wait(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.sockets.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Receivers) connect(c echo.Context) error {
	upgrade := strings.EqualFold(c.Request().Header.Get("Upgrade"), "websocket")
	known := []string{"wait", "max"}
	if upgrade {
		known = []string{"window"}
	}
	businessType, q := requests.BusinessType(c, known...)
	window, rings, wait := q.Number("window", limits.DefaultWindow, limits.MaxWindow), q.Number("max", 1, limits.MaxWindow), pollWait(q)
	if err := q.Err(); err != nil {
		return err
	}
	if door.OtherOrigin(c.Request()) {
		return problems.OtherOrigin()
	}
	if err := s.streamed(c.Request().Context(), businessType); err != nil {
		return err
	}
	switch {
	case c.Request().Method == http.MethodHead: // it takes no ring
		return c.NoContent(http.StatusOK)
	case upgrade:
		return s.upgrade(c, businessType, window)
	default:
		return s.poll(c, businessType, polling{rings, wait})
	}
}

// streamed refuses a type whose policy does not say that its receivers connect.
func (s *Receivers) streamed(ctx context.Context, businessType string) error {
	policy, err := s.policy(ctx, businessType)
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return &wire.Error{Code: wire.NotFound, Message: "The business type has no policy."}
	case err != nil:
		return err
	case !policy.Streams():
		return &wire.Error{Code: wire.NotStreamed, Message: "The policy of " + businessType + " does not have \"stream\": true."}
	}
	return nil
}

func (s *Receivers) join(businessType string, window int) (*stream.Connection, error) {
	connection, err := s.hub.Join(businessType, window)
	switch {
	case errors.Is(err, stream.ErrFull):
		return nil, &wire.Error{
			Code: wire.QuotaExceeded, Message: "The gateway has reached its limit of connected receivers or of rings without an answer.",
			Quota: &wire.Quota{Name: "stream_connections", Limit: tuning.StreamConnectionsPerType, RetryAfter: tuning.StreamRetryAfter},
		}
	case err != nil:
		return nil, &wire.Error{Code: wire.Unavailable, Message: "The gateway is shutting down. Connect again.", Cause: err}
	}
	return connection, nil
}

// polling is what a long poll asks for.
type polling struct {
	rings int
	wait  time.Duration
}

// poll answers with the rings that come within its time. They are answered by a call of
// their own.
func (s *Receivers) poll(c echo.Context, businessType string, p polling) error {
	connection, err := s.join(businessType, p.rings)
	if err != nil {
		return err
	}
	defer connection.Retire()
	body := RingsBody{Rings: []RingBody{}}
	for _, ring := range s.collect(c.Request().Context(), connection, p) {
		body.Rings = append(body.Rings, bodyOf(ring, s.pollID(connection, ring)))
	}
	connection.Retire()
	if err := c.JSON(http.StatusOK, body); err != nil || c.Request().Context().Err() != nil {
		connection.Close() // the receiver has not got them
		return err
	}
	return nil
}

// collect waits for a ring, and takes the rings that come with it.
func (s *Receivers) collect(ctx context.Context, connection *stream.Connection, p polling) (rings []stream.Ring) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	for len(rings) < p.rings {
		ring, err := connection.Next(ctx)
		if err != nil {
			break
		}
		if rings = append(rings, ring); len(rings) == 1 {
			var more context.CancelFunc
			ctx, more = context.WithTimeout(ctx, tuning.StreamGather)
			defer more()
		}
	}
	return rings
}

// pollID names a ring beyond its connection and its gateway.
func (s *Receivers) pollID(connection *stream.Connection, ring stream.Ring) string {
	return s.gateway + "." + connection.Name() + "." + strconv.FormatUint(ring.Number, 10)
}

func (s *Receivers) answer(c echo.Context) error {
	businessType, q := requests.BusinessType(c)
	if err := q.Err(); err != nil {
		return err
	}
	body, err := requests.ReadObject(c)
	if err != nil {
		return err
	}
	id, answer, err := readAnswer(body)
	if err != nil {
		return err
	}
	answer.BusinessType = businessType
	if err := s.resolve(c.Request().Context(), id, answer); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// resolve gives an answer to the ring with an id. The ring is here, or at the gateway in its id.
func (s *Receivers) resolve(ctx context.Context, id string, answer delivery.RingAnswer) (err error) {
	parts := strings.Split(id, ".")
	if len(parts) != pollIDParts {
		return streams.ErrRingOver
	}
	answer.Gateway, answer.Connection = parts[0], parts[1]
	if answer.Number, err = strconv.ParseUint(parts[2], 10, 64); err != nil {
		return streams.ErrRingOver
	}
	if answer.Gateway != s.gateway {
		return s.elsewhere(ctx, answer)
	}
	if s.hub.Answer(answer.BusinessType, answer.Connection, answer.Number, answer.Answer()) != nil {
		return streams.ErrRingOver
	}
	return nil
}

// give passes a receiver's word on.
func give(connection *stream.Connection, id string, answer delivery.Answer) error {
	number, err := strconv.ParseUint(id, 10, 64)
	if err == nil {
		err = connection.Answer(number, answer)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stream.ErrOver):
		return streams.ErrRingOver
	default:
		return &wire.Error{Code: wire.NotFound, Message: "No such ring was sent on this connection.", Cause: stream.ErrNeverSent}
	}
}

// AnswerBody is a receiver's word on a ring.
type AnswerBody struct {
	Ack  *string `json:"ack"`
	Nack *string `json:"nack"`
	// Reason, Delay and NoRetry go with a nack.
	Reason  *string        `json:"reason"`
	Delay   *wire.Duration `json:"delay"`
	NoRetry *bool          `json:"no_retry"`
	// Stop ends a recurring timer with this occurrence.
	Stop *bool `json:"stop"`
}

// readAnswer reads a receiver's word, and which ring it is about.
func readAnswer(o decode.Object) (id string, answer delivery.RingAnswer, err error) {
	var body AnswerBody
	errs := o.Fill(&body)
	_, acks := o["ack"]
	_, nacks := o["nack"]
	if acks == nacks {
		errs.Add("/ack", wire.CodeRequired, "give either ack or nack, with the id of a ring")
	}
	if acks && !nacks {
		errs.Complete(onlyOfNacks(o))
	} else if d := decode.Value(body.Delay); d < 0 || d.D() > delivery.MaxRetryAfter {
		errs.AddRange("/delay", wire.Duration(0), wire.Duration(delivery.MaxRetryAfter))
	}
	if err := errs.Err(); err != nil {
		return "", delivery.RingAnswer{}, err
	}
	if acks {
		return *body.Ack, delivery.RingAnswer{Delivered: true, Stop: decode.Value(body.Stop)}, nil
	}
	return *body.Nack, delivery.RingAnswer{
		Reason: wire.Excerpt(decode.Value(body.Reason)), Delay: decode.Value(body.Delay), NoRetry: decode.Value(body.NoRetry),
		Stop: decode.Value(body.Stop),
	}, nil
}

// onlyOfNacks names the members of an ack that go only with a nack.
func onlyOfNacks(o decode.Object) (errs wire.FieldErrors) {
	for _, name := range []string{"reason", "delay", "no_retry"} {
		if _, said := o[name]; said {
			errs.Add("/"+name, wire.CodeConflict, "is allowed only with nack")
		}
	}
	return errs
}

// RingsBody is the answer to a long poll.
type RingsBody struct {
	Rings []RingBody `json:"rings"`
}

// RingBody is a ring as a receiver gets it: what a callback has as its headers and body.
type RingBody struct {
	Ring     string            `json:"ring"`
	Deadline wire.Instant      `json:"deadline"`
	Headers  map[string]string `json:"headers"`
	// Body is the body if it is text. Otherwise BodyBase64 is.
	Body       *string `json:"body,omitempty"`
	BodyBase64 string  `json:"body_base64,omitzero"`
}

func bodyOf(ring stream.Ring, id string) RingBody {
	b := RingBody{Ring: id, Deadline: wire.At(ring.Deadline), Headers: make(map[string]string, len(ring.Headers)+1)}
	for name, header := range ring.Headers {
		b.Headers[name] = header
	}
	if ring.ContentType != "" {
		b.Headers[echo.HeaderContentType] = ring.ContentType
	}
	if text := string(ring.Body); isText(text) {
		b.Body = &text
	} else {
		b.BodyBase64 = base64.StdEncoding.EncodeToString(ring.Body)
	}
	return b
}

// pollWait is how long a long poll waits for a ring.
func pollWait(q *requests.Query) time.Duration {
	if q.Values.Get("wait") == "" {
		return kernel.MaxWait
	}
	return q.Wait()
}
