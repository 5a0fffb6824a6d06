package deliveries

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// house is a Wakecall with workers of its own and a RabbitMQ.
type house struct {
	*testenv.Env
	broker *rabbit.Server
}

// A policy or a timer may name a broker: its timers are messages in queues, and all else is
// as it is by HTTP.
func TestTimersCallIntoRabbitMQ(t *testing.T) {
	t.Parallel()
	broker := rabbit.Start(t)
	addr := testenv.Alone(t)
	settings := testenv.Settings()
	settings.Brokers = rabbit.BrokersFile(t, broker.URL)
	h := house{testenv.OpenWith(t, addr, settings), broker}
	h.StartWorker()
	t.Run("beside one another", func(t *testing.T) {
		for name, part := range map[string]func(house, *testing.T){
			"messages": house.arrive, "a ladder": house.failUpTheLadder, "what is declared": house.declare,
			"a latest time": house.expire, "attempts in flight": house.keepToTheirShare, "a second link, and acknowledged": house.standIn,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				part(house{h.For(t), broker}, t)
			})
		}
	})
	t.Run("a broker that is blocked", func(t *testing.T) { house{h.For(t), broker}.holdBackAtABlockedBroker(t) })
	t.Run("a broker that is killed", func(t *testing.T) { house{h.For(t), broker}.goOverWhenTheBrokerIsKilled(t) })
}

func (h house) arrive(t *testing.T) {
	const kind = "order-close"
	key, q := sample.Secret(), receiver.NewQueue(t, h.broker.URL, kind)
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "timers", "headers": testenv.JSON{"X-Tenant": "7"}}, "signing_secrets": []string{key},
		"declare": testenv.JSON{"exchange_type": "direct", "queue": kind}, "expires_after": "1h",
	})
	booked := h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s", "payload": testenv.JSON{"total": 12.5}})
	d := q.Next()
	require.Equal(t, booked.WebhookID, d.MessageId)
	require.JSONEq(t, `{"total": 12.5}`, string(d.Body))
	require.Equal(t, "application/json", d.ContentType)
	require.NotEmpty(t, d.Expiration)
	header := http.Header{}
	for name, value := range d.Headers {
		header.Set(name, fmt.Sprint(value))
	}
	require.Equal(t, []string{"7", "1", "1", kind}, []string{
		header.Get("X-Tenant"), header.Get("Wakecall-Business-Id"), header.Get("Wakecall-Attempt"), header.Get("Wakecall-Business-Type"),
	})
	verifier, err := webhooks.NewWebhook(key)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(d.Body, header))
	delivered := h.Await(kind+"/1", "delivered")
	require.Equal(t, 1, delivered.Attempts)
	require.NotNil(t, delivered.LatenessMS)
}

// What no queue takes goes up the ladder, and fails with its reason.
func (h house) failUpTheLadder(t *testing.T) {
	const kind = "order-astray"
	alerts := receiver.NewQueue(t, h.broker.URL, "alerts")
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "signing_secrets": []string{sample.Secret()},
		"alert": testenv.JSON{"broker": "main", "routing_key": "alerts"}, "retry": testenv.JSON{"steps": []string{"100ms", "100ms"}},
	})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	failed := h.Await(kind+"/1", "failed")
	require.Equal(t, 3, failed.Attempts)
	require.True(t, strings.HasPrefix(failed.LastFailure.Message, "unroutable: "), failed.LastFailure.Message)
	alert := alerts.Next()
	require.Contains(t, string(alert.Body), `"timer.failed"`)
	require.Contains(t, string(alert.Body), failed.WebhookID)
	require.NotEmpty(t, alert.Headers["webhook-signature"])

	receiver.NewQueue(t, h.broker.URL, kind) // somebody has mended it
	require.Equal(t, http.StatusOK, h.Do("POST", "/v1/timers/"+kind+"/1/redeliver", nil).Status)
	require.Equal(t, failed.WebhookID, h.Await(kind+"/1", "delivered").WebhookID)
}

// What is there with other properties is told on the timer.
func (h house) declare(t *testing.T) {
	const kind = "order-open"
	ch := receiver.NewQueue(t, h.broker.URL, kind)
	require.NoError(t, ch.ExchangeDeclare("taken", "direct", true, false, false, false, nil))
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "taken"}, "declare": testenv.JSON{"exchange_type": "fanout"},
		"retry": testenv.JSON{"steps": []string{}},
	})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Equal(t, "refused: declaring the exchange: it exists with another type (406)", h.Await(kind+"/1", "failed").LastFailure.Message)
	plan := h.Do("PUT", "/v1/policies/"+kind+"?dry_run=true", `{"callback":{"broker":"main","exchange":"taken"},"declare":{"exchange_type":"direct","queue":"q"}}`)
	require.Equal(t, http.StatusOK, plan.Status)
	require.Contains(t, string(plan.Body), `{"pointer":"/declare/exchange_type","from":"fanout","to":"direct"}`)
}

// deliveryOf is what a message says to whoever acknowledges it.
func deliveryOf(d amqp.Delivery) client.Delivery {
	return client.Delivery{WebhookID: d.MessageId, Token: fmt.Sprint(d.Headers[delivery.HeaderAckToken])}
}
