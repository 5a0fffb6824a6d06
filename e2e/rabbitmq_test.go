package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/rabbit"
	"github.com/wakecall/wakecall/timer"
)

// queue is an application's end of a broker.
type queue struct {
	t    *testing.T
	name string
	*amqp.Channel
}

func newQueue(t *testing.T, broker *rabbit.Server, name string) queue {
	conn, err := amqp.Dial(broker.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare(name, true, false, false, false, nil)
	require.NoError(t, err)
	return queue{t, name, ch}
}

// next waits for the next message.
func (q queue) next() (d amqp.Delivery) {
	q.t.Helper()
	require.Eventually(q.t, func() bool {
		var ok bool
		var err error
		d, ok, err = q.Get(q.name, true)
		return err == nil && ok
	}, 20*time.Second, 20*time.Millisecond, "a message is in the queue %s", q.name)
	return d
}

// A policy or a timer may name a broker: its timers are messages in queues.
func TestTimersCallIntoRabbitMQ(t *testing.T) {
	broker := rabbit.Start(t)
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	settings := testenv.Settings()
	settings.Brokers = rabbit.BrokersFile(t, broker.URL)
	env, kind, key := testenv.OpenWith(t, addr, settings), "order-close", secret()
	env.StartWorker()
	q, alerts := newQueue(t, broker, kind), newQueue(t, broker, "alerts")
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "timers", "headers": testenv.JSON{"X-Tenant": "7"}}, "signing_secrets": []string{key},
		"declare": testenv.JSON{"exchange_type": "direct", "queue": kind}, "alert": testenv.JSON{"broker": "main", "routing_key": "alerts"},
		"retry": testenv.JSON{"steps": []string{"100ms", "100ms"}}, "expires_after": "1h",
	})

	booked := env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s", "payload": testenv.JSON{"total": 12.5}})
	d := q.next()
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
	delivered := env.Await(kind+"/1", "delivered")
	require.Equal(t, 1, delivered.Attempts)

	// What no queue takes goes up the ladder, and fails with its reason.
	env.Add(testenv.JSON{
		"business_type": kind, "business_id": "2", "delay": "0s", "callback": testenv.JSON{"broker": "main", "routing_key": "nobody"},
	})
	failed := env.Await(kind+"/2", "failed")
	require.Equal(t, 3, failed.Attempts)
	require.True(t, strings.HasPrefix(failed.LastFailure.Message, "unroutable: "), failed.LastFailure.Message)
	alert := alerts.next()
	require.Contains(t, string(alert.Body), `"timer.failed"`)
	require.Contains(t, string(alert.Body), failed.WebhookID)
	require.NotEmpty(t, alert.Headers["webhook-signature"])

	// What is there with other properties is told on the timer.
	env.Policy("order-open", testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "timers"}, "declare": testenv.JSON{"exchange_type": "fanout"},
		"retry": testenv.JSON{"steps": []string{}},
	})
	env.Add(testenv.JSON{"business_type": "order-open", "business_id": "1", "delay": "0s"})
	require.Equal(t, "refused: declaring the exchange: it is there with another type (406)", env.Await("order-open/1", "failed").LastFailure.Message)
	plan := env.Do("PUT", "/v1/policies/order-open?dry_run=true", `{"callback":{"broker":"main","exchange":"timers"},"declare":{"exchange_type":"direct","queue":"q"}}`)
	require.Equal(t, http.StatusOK, plan.Status)
	require.Contains(t, string(plan.Body), `{"pointer":"/declare/exchange_type","from":"fanout","to":"direct"}`)

	keepsToItsPolicy(t, env, broker)
	// A message that the broker has confirmed is accepted, where its reader acknowledges.
	slow := newQueue(t, broker, "order-slow")
	env.Policy(slow.name, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "ack": testenv.JSON{"within": "10m"}})
	env.Add(testenv.JSON{"business_type": slow.name, "business_id": "1", "delay": "0s"})
	d = slow.next()
	delivery := client.Delivery{WebhookID: d.MessageId, Token: fmt.Sprint(d.Headers[timer.HeaderAckToken])}
	view, _, err := env.Wakecall().Deliveries.Ack(t.Context(), delivery, patient)
	require.NoError(t, err)
	require.Equal(t, timer.Delivered, view.Status)

	goesOverWhenTheBrokerIsKilled(t, env, broker)

	for callback, pointer := range map[string]string{
		`{"broker":"other"}`:                                                 "/callback/broker",
		`{"broker":"main","url":"https://h/"}`:                               "/callback/broker",
		`{"broker":"main","exchange":"a\u0007"}`:                             "/callback/exchange",
		`{"broker":"main","routing_key":"` + strings.Repeat("k", 256) + `"}`: "/callback/routing_key",
		`{"exchange":"timers"}`:                                              "/callback/exchange",
		`{"broker":"main","declare":{}}`:                                     "/callback/declare",
	} {
		reply := env.Do("POST", "/v1/timers", `{"business_type":"`+kind+`","business_id":"bad","delay":"1h","callback":`+callback+`}`)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s: %s", callback, reply.Body)
		require.Len(t, reply.Problem().Errors, 1, "%s", reply.Body)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer)
		require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/bad", nil).Status, "nothing is started")
	}
	for body, pointer := range map[string]string{
		`{"callback":{"broker":"other"}}`:                                                 "/callback/broker",
		`{"callback":{"broker":"main","url":"https://h/"}}`:                               "/callback/broker",
		`{"callback":{"routing_key":"x"}}`:                                                "/callback/routing_key",
		`{"callback":{"broker":"main"},"declare":{}}`:                                     "/declare",
		`{"callback":{"broker":"main"},"declare":{"exchange_type":"direct"}}`:             "/declare/exchange_type",
		`{"callback":{"url":"https://h/"},"declare":{"queue":"bad"}}`:                     "/declare",
		`{"callback":{"broker":"main"},"alert":{"broker":"other"}}`:                       "/alert/broker",
		`{"callback":{"broker":"main"},"alert":{}}`:                                       "/alert/url",
		`{"callback":{"broker":"main","exchange":"a\u0000b"}}`:                            "/callback/exchange",
		`{"callback":{"broker":"main","routing_key":"` + strings.Repeat("k", 256) + `"}}`: "/callback/routing_key",
	} {
		reply := env.Do("PUT", "/v1/policies/bad", body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s: %s", body, reply.Body)
		require.Len(t, reply.Problem().Errors, 1, "%s", reply.Body)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer)
	}
}
