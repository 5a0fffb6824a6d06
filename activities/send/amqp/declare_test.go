package amqpsend

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// declaring sends a message to an exchange whose policy declares something.
func declaring(t *testing.T, transport *Transport, exchange string, d delivery.Declare) send.Outcome {
	return transport.Send(t.Context(), send.Envelope{
		ID: "msg_1", Destination: delivery.Destination{Broker: "main", Exchange: exchange, RoutingKey: "order"}, Declare: &d,
	})
}

// The transport declares what the policy names, and nothing else.
func declared(t *testing.T, server *rabbit.Server) {
	transport, app := opened(t, server.URL), newConsumer(t, server.URL)
	defer func() { _ = app.conn.Close() }()
	require.Equal(t, delivery.Unroutable, attempt(t, transport, delivery.Destination{Broker: "main", Exchange: "orders", RoutingKey: "order"}).Class,
		"the control: nothing is there")

	both := delivery.Declare{ExchangeType: delivery.ExchangeTopic, Queue: "orders-queue", QueueType: delivery.QueueQuorum}
	outcome := declaring(t, transport, "orders", both)
	require.True(t, outcome.Delivered, "%+v", outcome)
	again := opened(t, server.URL)
	require.True(t, declaring(t, again, "orders", both).Delivered, "another worker finds it there")
	_, err := app.QueueDeclarePassive("orders-queue", true, false, false, false, nil)
	require.NoError(t, err)
	_, err = app.QueueDeclare("orders-queue", true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
	require.NoError(t, err, "it is a durable quorum queue")
	require.NoError(t, app.ExchangeDeclare("orders", "topic", true, false, false, false, nil), "it is a durable topic exchange")

	_, err = app.QueueDelete("orders-queue", false, false, false)
	require.NoError(t, err)
	require.Equal(t, delivery.Unroutable, declaring(t, transport, "orders", both).Class, "it is not declared before each message")
	require.True(t, declaring(t, transport, "orders", both).Delivered, "it is declared again after one that no queue took")

	for detail, d := range map[string]delivery.Declare{
		"declaring the exchange: it exists with another type (406)":      {ExchangeType: delivery.ExchangeFanout},
		"declaring the queue: it exists with another x-queue-type (406)": {Queue: "orders-queue", QueueType: delivery.QueueClassic},
	} {
		for range 2 {
			outcome := declaring(t, transport, "orders", d)
			require.Equal(t, delivery.Answer{Class: delivery.Refused, Detail: detail}, outcome.Answer)
			require.Zero(t, outcome.FirstByte, "nothing was sent")
		}
	}
	missing := declaring(t, transport, "missing", delivery.Declare{Queue: "orders-queue", QueueType: delivery.QueueQuorum})
	require.Equal(t, delivery.Answer{Class: delivery.Unroutable, Detail: "declaring the binding: there is no such exchange (404)"}, missing.Answer)
	app.declares("plain", nil)
	plain := transport.Send(t.Context(), send.Envelope{ID: "msg_1", Destination: to("main", "plain"), Declare: &delivery.Declare{Queue: "plain"}})
	require.True(t, plain.Delivered, "%+v", plain)
}

// A user without the right to configure declares nothing, and gets that answer.
func mayNotDeclare(t *testing.T, server *rabbit.Server) {
	server.Permit("reader", "^$", ".*", ".*")
	transport := opened(t, "amqp://reader:"+sendtest.Secret+"@"+server.Address+"/")
	var outcome send.Outcome
	require.Eventually(t, func() bool {
		outcome = declaring(t, transport, "forbidden", delivery.Declare{ExchangeType: delivery.ExchangeDirect})
		return outcome.Detail == "declaring the exchange: the broker does not permit it (403)"
	}, 2*time.Minute, 50*time.Millisecond, "it may not configure")
	require.Equal(t, delivery.Refused, outcome.Class)
	require.NotContains(t, outcome.Describe(), "reader")
}
