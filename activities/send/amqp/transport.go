package amqpsend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Broker is a broker that the operator has named.
type Broker struct {
	Name string
	// URL has the form amqp[s]://user:password@host:port/vhost.
	URL string
	// TLS holds for amqps; nil means the system's trust.
	TLS       *tls.Config
	Heartbeat time.Duration
}

// Transport carries messages to an operator's brokers. It opens one connection to each, at
// its first use.
type Transport struct{ brokers map[string]*broker }

// New returns a Transport. It does not connect yet.
func New(brokers []Broker) *Transport {
	t := &Transport{brokers: map[string]*broker{}}
	for _, b := range brokers {
		t.brokers[b.Name] = newBroker(b)
	}
	return t
}

// Close ends every connection. Attempts in flight fail.
func (t *Transport) Close() {
	for _, b := range t.brokers {
		b.close()
	}
}

// Send publishes an envelope and waits for the broker's confirmation.
func (t *Transport) Send(ctx context.Context, e send.Envelope) send.Outcome {
	b := t.brokers[e.Destination.Broker]
	if b == nil {
		return failed(delivery.Answer{Class: delivery.NoReceiver, Detail: "no broker of that name is configured here"})
	}
	if ctx.Err() != nil {
		return failed(answerOfContext(ctx))
	}
	conn, err := b.connection(ctx)
	if err != nil {
		return failed(refusal(ctx, err))
	}
	if conn.blocked.Load() { // nor does it open channels
		return failed(blocked())
	}
	if err := conn.ensure(ctx, e); err != nil {
		return failed(undeclared(ctx, err))
	}
	ch, err := conn.acquire(ctx, e.BusinessType)
	switch {
	case err != nil && conn.blocked.Load() && !conn.IsClosed():
		return failed(blocked())
	case err != nil:
		return failed(refusal(ctx, err))
	case conn.blocked.Load():
		ch.release()
		return failed(blocked())
	}
	return ch.send(ctx, e)
}

// send makes the attempt on an otherwise unused channel, so that all the broker says on it
// concerns this message.
func (ch *channel) send(ctx context.Context, e send.Envelope) send.Outcome {
	began := time.Now()
	to, message := e.Destination, publishing(e, began)
	confirmation, err := ch.PublishWithDeferredConfirmWithContext(ctx, to.Exchange, to.RoutingKey, true, false, message)
	if err != nil {
		ch.release() // the channel may be sound: the attempt's time was up
		outcome := failed(refusal(ctx, err))
		if !errors.Is(err, amqp.ErrClosed) && ctx.Err() == nil { // a part may have left
			outcome.FirstByte = began
		}
		return outcome
	}
	outcome := send.Outcome{FirstByte: began}
	select {
	case <-confirmation.Done():
		outcome.Answer = ch.answerOf(confirmation.Acked())
		ch.release()
		if t, declares := topologyOf(e); declares && outcome.Class == delivery.Unroutable {
			ch.conn.undeclare(t)
		}
	case <-ctx.Done():
		outcome.Answer = answerOfContext(ctx)
		if ch.conn.blocked.Load() {
			outcome.Answer = blocked()
		}
		ch.releaseAfter(confirmation)
	}
	outcome.Ended = time.Now()
	return outcome
}

func publishing(e send.Envelope, now time.Time) amqp.Publishing {
	headers := amqp.Table{}
	for name, value := range e.Headers {
		headers[name] = value
	}
	p := amqp.Publishing{
		MessageId: e.ID, ContentType: e.ContentType, Headers: headers, Body: e.Body,
		DeliveryMode: amqp.Persistent, Timestamp: now, AppId: "wakecall",
	}
	if !e.Expires.IsZero() {
		p.Expiration = expiration(e.Expires.Sub(now))
	}
	return p
}

// expiration is a time to live in RabbitMQ's form, in milliseconds.
func expiration(left time.Duration) string {
	return strconv.FormatInt(min(max(left, time.Millisecond), tuning.BrokerLongestExpiration).Milliseconds(), 10)
}

// answerOf is the broker's answer before the confirmation. The broker returns a message without a
// route, and closes the channel of a refused one.
func (ch *channel) answerOf(acked bool) delivery.Answer {
	select {
	case returned, ok := <-ch.returns:
		if !ok { // it is closed with the channel
			break
		}
		return delivery.Answer{Class: delivery.Unroutable, Detail: unrouted(returned.ReplyCode)}
	default:
	}
	switch {
	case acked:
		return delivery.Answer{Delivered: true, Deferred: true} // the queue's consumer has yet to see it
	case ch.IsClosed():
		select {
		case reason := <-ch.closes:
			return closed(reason)
		default:
			return delivery.Answer{Class: delivery.BrokenAnswer}
		}
	default:
		return delivery.Answer{Class: delivery.Refused, Detail: "the broker did not confirm it (nack)"}
	}
}

// unrouted is why a broker returned a message. The broker's own text may name users and hosts.
func unrouted(code uint16) string {
	if code == amqp.NoRoute {
		return fmt.Sprintf("the broker returned it: no queue takes it (%d)", code)
	}
	return fmt.Sprintf("the broker returned it (%d)", code)
}

// closed is the answer of a broker that closed the channel or the connection. The broker's
// own text may name users and hosts.
func closed(reason *amqp.Error) delivery.Answer {
	switch {
	case reason == nil:
		return delivery.Answer{Class: delivery.BrokenAnswer}
	case reason.Code == amqp.NotFound:
		return delivery.Answer{Class: delivery.Unroutable, Detail: "there is no such exchange (404)"}
	case reason.Code == amqp.AccessRefused, reason.Code == amqp.NotAllowed:
		return delivery.Answer{Class: delivery.Refused, Detail: fmt.Sprintf("the broker does not permit it (%d)", reason.Code)}
	case reason.Server:
		return delivery.Answer{Class: delivery.BrokenAnswer, Detail: fmt.Sprintf("the broker closed with %d", reason.Code)}
	default:
		return delivery.Answer{Class: delivery.BrokenAnswer}
	}
}

// refusal is the answer when nothing was sent.
func refusal(ctx context.Context, err error) delivery.Answer {
	if reason, ok := errors.AsType[*amqp.Error](err); ok {
		return closed(reason)
	}
	if ctx.Err() != nil {
		return answerOfContext(ctx)
	}
	if errors.Is(err, errUnsteady) {
		return delivery.Answer{Class: delivery.ConnectFailure, Detail: err.Error()}
	}
	return delivery.Answer{Class: send.Classify(err)}
}

func answerOfContext(ctx context.Context) delivery.Answer {
	return delivery.Answer{Class: send.Classify(ctx.Err())}
}

func blocked() delivery.Answer {
	return delivery.Answer{Class: delivery.BrokerBlocked, RetryAfter: tuning.BlockedPatience}
}

func failed(answer delivery.Answer) send.Outcome {
	return send.Outcome{Answer: answer, Ended: time.Now()}
}
