package amqpsend

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// topology is what to declare for messages to one exchange and routing key.
type topology struct {
	delivery.Declare
	exchange, key string
}

func topologyOf(e send.Envelope) (t topology, ok bool) {
	if e.Declare == nil {
		return t, false
	}
	return topology{Declare: *e.Declare, exchange: e.Destination.Exchange, key: e.Destination.RoutingKey}, true
}

// declaration is a declaration that is under way, or that the broker has accepted.
type declaration struct {
	ended chan struct{}
	err   error
}

// declareError names what could not be declared.
type declareError struct {
	what string
	error
}

func (e declareError) Unwrap() error { return e.error }

// ensure declares an envelope's topology, once per connection: concurrent attempts wait for
// the same answer.
func (c *connection) ensure(ctx context.Context, e send.Envelope) error {
	t, ok := topologyOf(e)
	if !ok {
		return nil
	}
	d, mine := c.declaration(t)
	if mine && !c.start(func() { c.declare(e.BusinessType, t, d) }) {
		return amqp.ErrClosed
	}
	select {
	case <-d.ended:
		return d.err
	case <-c.gone:
		return amqp.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *connection) declaration(t topology) (d *declaration, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.declared[t]; d != nil {
		return d, false
	}
	d = &declaration{ended: make(chan struct{})}
	c.declared[t] = d
	return d, true
}

// undeclare makes the next attempt declare again. The broker may now accept what it refused,
// and what it accepted may have been deleted.
func (c *connection) undeclare(t topology) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.declared, t)
}

func (c *connection) declare(businessType string, t topology, d *declaration) {
	defer close(d.ended)
	ctx, cancel := context.WithTimeout(context.Background(), tuning.BrokerDeclareTimeout)
	defer cancel()
	ch, err := c.acquire(ctx, businessType)
	if err == nil {
		err = t.declareOn(ch.Channel)
		ch.release()
	}
	if d.err = err; err != nil {
		c.undeclare(t)
	}
}

// declareOn declares durable objects that are never deleted. A broker that refuses one
// closes the channel.
func (t topology) declareOn(ch *amqp.Channel) error {
	if t.ExchangeType != "" {
		if err := ch.ExchangeDeclare(t.exchange, string(t.ExchangeType), true, false, false, false, nil); err != nil {
			return declareError{"exchange", err}
		}
	}
	if t.Queue == "" {
		return nil
	}
	arguments := amqp.Table{}
	if t.QueueType != "" {
		arguments[amqp.QueueTypeArg] = string(t.QueueType)
	}
	if _, err := ch.QueueDeclare(t.Queue, true, false, false, false, arguments); err != nil {
		return declareError{"queue", err}
	}
	if t.exchange == "" { // every queue is bound to the default exchange by its name
		return nil
	}
	if err := ch.QueueBind(t.Queue, t.key, t.exchange, false, nil); err != nil {
		return declareError{"binding", err}
	}
	return nil
}

// inequivalent finds the property that differs from the declaration.
var inequivalent = regexp.MustCompile(`inequivalent arg '([a-z-]+)'`)

// undeclared is the answer of a broker that did not accept a declaration.
func undeclared(ctx context.Context, err error) delivery.Answer {
	answer := refusal(ctx, err)
	failed, isDeclare := errors.AsType[declareError](err)
	reason, told := errors.AsType[*amqp.Error](err)
	switch {
	case !isDeclare || !told:
		return answer
	case reason.Code == amqp.PreconditionFailed:
		property := "other properties"
		if found := inequivalent.FindStringSubmatch(reason.Reason); found != nil {
			property = "another " + found[1]
		}
		answer.Class, answer.Detail = delivery.Refused, fmt.Sprintf("it exists with %s (%d)", property, reason.Code)
	case answer.Detail == "":
		answer.Detail = "it failed"
	}
	answer.Detail = "declaring the " + failed.what + ": " + answer.Detail
	return answer
}
