package amqpsend

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/rabbit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// consumer is an application on the other side of the broker.
type consumer struct {
	*testing.T
	conn *amqp.Connection
	*amqp.Channel
}

func newConsumer(t *testing.T, url string) consumer {
	conn, err := amqp.Dial(url)
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return consumer{t, conn, ch}
}

func (c consumer) declares(queue string, arguments amqp.Table) {
	_, err := c.QueueDeclare(queue, true, false, false, false, arguments)
	require.NoError(c, err)
	_, err = c.QueuePurge(queue, false)
	require.NoError(c, err)
}

// takes is the next message of the queue, if there is one.
func (c consumer) takes() (amqp.Delivery, bool) {
	d, ok, err := c.Get(taking, true)
	require.NoError(c, err)
	return d, ok
}

func to(broker, queue string) delivery.Destination {
	return delivery.Destination{Broker: broker, RoutingKey: queue}
}

const (
	taking   = "wakecall-accepts"
	refusing = "wakecall-refuses"
)

func TestTransport(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a RabbitMQ")
	}
	server := rabbit.Start(t)
	t.Run("conformance", func(t *testing.T) { conformance(t, server) })
	t.Run("properties", func(t *testing.T) { properties(t, server) })
	t.Run("unroutable", func(t *testing.T) { unroutable(t, server) })
	t.Run("declared", func(t *testing.T) { declared(t, server) })
	t.Run("TLS", func(t *testing.T) { overTLS(t, server) })
	t.Run("a broker that falls silent", func(t *testing.T) { fallsSilent(t, server) })
	t.Run("a broker that is far away", func(t *testing.T) { farAway(t, server) })
	t.Run("a broker that is unsteady", func(t *testing.T) { unsteady(t, server) })
	t.Run("a connection that the operator closes", func(t *testing.T) { closedByOperator(t, server) })
	t.Run("permission refused", func(t *testing.T) { permissionRefused(t, server) })
	t.Run("fewer channels than attempts", func(t *testing.T) { fewChannels(t, server) })
	t.Run("a queue that is stuck", func(t *testing.T) { stuckQueue(t, server) })
	t.Run("closed in the middle", func(t *testing.T) { closedInTheMiddle(t, server) })
	t.Run("memory alarm", func(t *testing.T) { memoryAlarm(t, server) })
	t.Run("stopped and started", func(t *testing.T) { stoppedAndStarted(t, server) })
}

func conformance(t *testing.T, server *rabbit.Server) {
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	sendtest.Run(t, func(t *testing.T) sendtest.Subject {
		app := newConsumer(t, server.URL)
		app.declares(taking, nil)
		app.declares(refusing, amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
		silent, breaking, blocking := rabbit.NewProxy(t, server.Address, rabbit.FallsSilent), rabbit.NewProxy(t, server.Address, rabbit.HangsUp), rabbit.NewProxy(t, server.Address, rabbit.IsBlocked)
		transport := New([]Broker{
			{Name: "main", URL: server.URL}, {Name: "silent", URL: silent.URL}, {Name: "breaking", URL: breaking.URL}, {Name: "blocking", URL: blocking.URL},
			{Name: "nobody", URL: "amqp://guest:" + sendtest.Secret + "@" + nobody.Addr().String() + "/"},
		})
		destinations := map[sendtest.Behaviour]delivery.Destination{
			sendtest.Accept: to("main", taking), sendtest.Refuse: to("main", refusing), sendtest.NeverAnswer: to("silent", taking),
			sendtest.Break: to("breaking", taking), sendtest.AskPatience: to("blocking", taking), sendtest.Unreachable: to("nobody", taking),
		}
		var all []sendtest.Received
		return sendtest.Subject{
			Transport: transport,
			Destination: func(b sendtest.Behaviour) (d delivery.Destination, ok bool) {
				d, ok = destinations[b]
				return d, ok
			},
			Received: func() []sendtest.Received {
				for d, ok := app.takes(); ok; d, ok = app.takes() {
					all = append(all, received(d))
				}
				return all
			},
			Close: func() {
				for _, proxy := range []*rabbit.Proxy{silent, breaking, blocking} { // first: what is silent answers no farewell
					proxy.Close()
				}
				transport.Close()
				_ = app.conn.Close()
			},
		}
	})
}

func received(d amqp.Delivery) sendtest.Received {
	headers := map[string]string{}
	for name, value := range d.Headers {
		headers[name], _ = value.(string)
	}
	return sendtest.Received{ID: d.MessageId, ContentType: d.ContentType, Headers: headers, Body: d.Body}
}

// attempt sends a message within half a minute.
func attempt(t *testing.T, transport *Transport, d delivery.Destination) send.Outcome {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return transport.Send(ctx, send.Envelope{ID: "msg_1", Destination: d, Body: []byte("x")})
}

func opened(t *testing.T, url string) *Transport {
	transport := New([]Broker{{Name: "main", URL: url, Heartbeat: time.Second}})
	t.Cleanup(transport.Close)
	return transport
}

func properties(t *testing.T, server *rabbit.Server) {
	transport, app := opened(t, server.URL), newConsumer(t, server.URL)
	defer func() { _ = app.conn.Close() }()
	app.declares(taking, nil)
	outcome := transport.Send(t.Context(), send.Envelope{ID: "msg_1", Destination: to("main", taking), Expires: time.Now().Add(time.Hour)})
	require.True(t, outcome.Delivered, "%+v", outcome)
	d, ok := app.takes()
	require.True(t, ok)
	require.EqualValues(t, amqp.Persistent, d.DeliveryMode)
	require.Equal(t, "wakecall", d.AppId)
	require.Regexp(t, "^3[56][0-9]{5}$", d.Expiration, "the milliseconds of an hour")
	require.True(t, attempt(t, transport, to("main", taking)).Delivered)
	d, _ = app.takes()
	require.Empty(t, d.Expiration)
	outcome = transport.Send(t.Context(), send.Envelope{ID: "msg_1", Destination: to("main", taking), Expires: endOfTime})
	require.True(t, outcome.Delivered, "%+v", outcome)
	d, _ = app.takes()
	require.Equal(t, "315360000000", d.Expiration, "the most that it accepts")
}

// endOfTime is the latest time that can be written.
var endOfTime = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func TestExpirations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 23, 6, 10, 0, 0, time.UTC)
	for expires, want := range map[time.Time]string{
		{}:                    "",
		now.Add(-time.Hour):   "1",
		now.Add(time.Hour):    "3600000",
		now.AddDate(9, 0, 0):  "283996800000",
		now.AddDate(10, 0, 0): "315360000000", // it has leap days
		endOfTime:             "315360000000",
	} {
		require.Equal(t, want, publishing(send.Envelope{Expires: expires}, now).Expiration, expires)
	}
}

func unroutable(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	for name, d := range map[string]delivery.Destination{
		"no queue":    to("main", "nobody-has-this"),
		"no exchange": {Broker: "main", Exchange: "nobody-has-this", RoutingKey: "x"},
	} {
		for range 3 { // a channel that the broker closed is not used again
			outcome := attempt(t, transport, d)
			require.Equal(t, delivery.Unroutable, outcome.Class, name)
			require.NotContains(t, outcome.Detail, "NO_ROUTE", "the broker's own words may say anything")
			require.Equal(t, delivery.DecisionRetry, delivery.Judge(outcome.Answer).Decision, name)
		}
	}
	require.Equal(t, delivery.NoReceiver, attempt(t, transport, to("other", "x")).Class)
	app := newConsumer(t, server.URL)
	defer func() { _ = app.conn.Close() }()
	app.declares(taking, nil)
	require.True(t, attempt(t, transport, to("main", taking)).Delivered, "what was refused says nothing of what comes after it")
}

// delivers waits until an attempt delivers.
func delivers(t *testing.T, transport *Transport) {
	t.Helper()
	require.Eventually(t, func() bool { return attempt(t, transport, to("main", taking)).Delivered }, 2*time.Minute, 50*time.Millisecond,
		"the broker is there again")
}

func closedByOperator(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	delivers(t, transport)
	server.CloseConnections()
	delivers(t, transport)
}

func permissionRefused(t *testing.T, server *rabbit.Server) {
	server.AddUser("reader", sendtest.Secret)
	transport := opened(t, "amqp://reader:"+sendtest.Secret+"@"+server.Address+"/")
	outcome := attempt(t, transport, to("main", taking))
	require.Equal(t, delivery.Refused, outcome.Class, "%+v: the virtual host is closed to it", outcome)
	server.Permit("reader", ".*", "^$", ".*")
	require.Eventually(t, func() bool {
		outcome = attempt(t, transport, delivery.Destination{Broker: "main", Exchange: "amq.direct", RoutingKey: taking})
		return outcome.Class == delivery.Refused && !outcome.FirstByte.IsZero()
	}, 2*time.Minute, 50*time.Millisecond, "it may not write")
	require.NotContains(t, outcome.Describe(), "reader")
	mayNotDeclare(t, server)
	wrong := opened(t, "amqp://reader:wrong@"+server.Address+"/")
	require.Equal(t, delivery.Refused, attempt(t, wrong, to("main", taking)).Class)
}

// A broker without memory takes nothing: it is left alone, and not asked by each attempt,
// until it accepts messages again.
func memoryAlarm(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	delivers(t, transport)
	server.SetMemory("0.00001")
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		outcome := transport.Send(ctx, send.Envelope{ID: "msg_1", Destination: to("main", taking)})
		return outcome.Class == delivery.BrokerBlocked && outcome.FirstByte.IsZero() && outcome.RetryAfter > 0
	}, 2*time.Minute, 50*time.Millisecond)
	lastsWithoutChannels(t, transport)
	closesAllTheSame(t, server)
	server.SetMemory("0.4")
	delivers(t, transport)
}

func stoppedAndStarted(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	delivers(t, transport)
	server.Stop()
	for range 3 {
		require.Contains(t, []delivery.FailureClass{delivery.ConnectFailure, delivery.BrokenAnswer}, attempt(t, transport, to("main", taking)).Class)
	}
	server.Restart()
	delivers(t, transport)
}

// lastsWithoutChannels shows that a blocked broker, which opens no channels, does not hold
// up an attempt without a channel.
func lastsWithoutChannels(t *testing.T, transport *Transport) {
	conn, err := transport.brokers["main"].connection(t.Context())
	require.NoError(t, err)
	var lent []*channel
	for len(conn.idle) > 0 {
		lent = append(lent, <-conn.idle)
	}
	outcome := attempt(t, transport, to("main", taking))
	require.Equal(t, delivery.BrokerBlocked, outcome.Class, "%+v", outcome)
	for _, ch := range lent {
		conn.idle <- ch
	}
}

// waiting is a context that reports when a wait for its end begins.
type waiting struct {
	context.Context
	begun chan struct{}
	once  *sync.Once
}

func (w waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

// A waiting attempt learns of a place that becomes free.
func fewChannels(t *testing.T, server *rabbit.Server) {
	var wire net.Conn
	raw, err := amqp.DialConfig(server.URL, amqp.Config{ChannelMax: 1, Dial: func(network, address string) (_ net.Conn, err error) {
		wire, err = net.Dial(network, address)
		return wire, err
	}})
	require.NoError(t, err)
	conn := newConnection(raw, wire)
	defer conn.close()
	first, err := conn.acquire(t.Context(), "")
	require.NoError(t, err)
	over, end := context.WithCancel(t.Context())
	end()
	require.Zero(t, first.send(over, send.Envelope{}).FirstByte)
	first, err = conn.acquire(t.Context(), "")
	require.NoError(t, err, "a channel on which nothing was sent is there for the next one")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waits, second := waiting{ctx, make(chan struct{}), new(sync.Once)}, make(chan error)
	go func() {
		_, err := conn.acquire(waits, "")
		second <- err
	}()
	<-waits.begun
	outcome := first.send(t.Context(), send.Envelope{ID: "msg_1", Destination: delivery.Destination{Exchange: "nowhere"}})
	require.Equal(t, delivery.Unroutable, outcome.Class, "the broker closes the channel")
	require.NoError(t, <-second)
}

// An attempt under way when the transport is closed leaves nothing behind.
func closedInTheMiddle(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	delivers(t, transport)
	var attempts sync.WaitGroup
	for range 20 {
		attempts.Go(func() {
			for transport.Send(t.Context(), send.Envelope{ID: "msg_1", Destination: to("main", taking)}).Delivered {
			}
		})
	}
	transport.Close()
	attempts.Wait()
}

// closesAllTheSame shows that a worker can stop although a blocked broker reads nothing, not
// even a close, and still sends heartbeats.
func closesAllTheSame(t *testing.T, server *rabbit.Server) {
	transport := opened(t, server.URL)
	require.Eventually(t, func() bool { // the broker takes one message before it blocks
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		return transport.Send(ctx, send.Envelope{ID: "msg_1", Destination: to("main", taking)}).Class == delivery.BrokerBlocked
	}, 2*time.Minute, 50*time.Millisecond)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		transport.Close()
	}()
	require.Eventually(t, func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	}, time.Minute, 10*time.Millisecond, "it is closed")
}
