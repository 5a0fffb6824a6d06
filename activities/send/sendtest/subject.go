package sendtest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

// Behaviour is what the receiver at a destination does with a message.
type Behaviour string

// What receivers do. A protocol may lack RefuseForGood and AskPatience.
const (
	Accept        Behaviour = "accepts"
	Refuse        Behaviour = "refuses"
	RefuseForGood Behaviour = "refuses for good"
	AskPatience   Behaviour = "asks for patience"
	NeverAnswer   Behaviour = "never answers"
	Break         Behaviour = "breaks the connection"
	Unreachable   Behaviour = "cannot be reached"
)

// Behaviours lists all of them.
func Behaviours() []Behaviour {
	return []Behaviour{Accept, Refuse, RefuseForGood, AskPatience, NeverAnswer, Break, Unreachable}
}

// Secret must stand in a destination wherever that may hold a secret: in the query of a URL,
// in a password.
const Secret = "wakecall-sendtest-secret"

// Received is a message as its receiver got it.
type Received struct {
	// ID is the protocol's message id, or the header webhook-id.
	ID          string
	ContentType string
	Headers     map[string]string // in any case
	Body        []byte
}

// Subject is a transport and its far end.
type Subject struct {
	Transport send.Transport
	// Destination leads to a receiver with this behaviour; ok is false if the protocol lacks it.
	Destination func(Behaviour) (d delivery.Destination, ok bool)
	// Received lists what arrived at all destinations.
	Received func() []Received
	// Close ends both, and all of their goroutines.
	Close func()
}

// Reporter receives broken rules: a [testing.T], or a control that expects them.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// check is one running rule.
type check struct {
	Reporter
	Subject
	ctx context.Context
	tap *tap
}

// tap keeps the envelopes that a transport gets.
type tap struct {
	send.Transport
	mu        sync.Mutex
	envelopes []send.Envelope
	changed   bool
}

func (t *tap) Send(ctx context.Context, e send.Envelope) send.Outcome {
	before := e
	before.Headers, before.Body = maps.Clone(e.Headers), slices.Clone(e.Body)
	outcome := t.Transport.Send(ctx, e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.envelopes = append(t.envelopes, before)
	t.changed = t.changed || !maps.Equal(before.Headers, e.Headers) || !slices.Equal(before.Body, e.Body)
	return outcome
}

// sends makes one attempt, as the activities do.
func (c *check) sends(ctx context.Context, m send.Message) send.Outcome {
	transports := send.Transports{m.Destination.Kind(): c.tap}
	return send.New(transports, noop.NewTracerProvider().Tracer("")).Send(ctx, m)
}

// patience bounds attempts that end by themselves.
const patience = 10 * time.Second

// to is a message to a receiver with this behaviour.
func (c *check) to(behaviour Behaviour) (m send.Message, ok bool) {
	destination, ok := c.Destination(behaviour)
	return send.Message{
		ID: timer.MessageID(string(behaviour)), Destination: destination, ContentType: timer.ContentTypeJSON, Body: []byte(`{"a": 1}`),
		Headers: map[string]string{send.HeaderAttempt: "1", "Authorization": "Bearer " + Secret},
		Secrets: []string{policy.SecretPrefix + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, Timeout: patience,
	}, ok
}

func (c *check) accepted() send.Message {
	m, _ := c.to(Accept)
	return m
}
