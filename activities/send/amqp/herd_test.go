package amqpsend

import (
	"context"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// herdSize is how many messages are sent at once, by as many concurrent attempts as a worker
// makes of one type.
const (
	herdSize    = 3000
	herdWorkers = 100
)

// BenchmarkHerd sends a herd into a durable queue of a real RabbitMQ: as attempts do, which
// wait for the broker's confirmation of each message. As a control it sends the same messages
// by one channel without waits. An operation is a herd, until the last wait is over.
func BenchmarkHerd(b *testing.B) {
	server := rabbit.Start(b)
	conn, app := publishes(b, server.URL)
	transport := New([]Broker{{Name: "main", URL: server.URL}})
	b.Cleanup(transport.Close)
	message := send.Envelope{ID: "msg_1", Destination: to("main", taking), Body: []byte(`{"order":4711}`), ContentType: "application/json"}
	unconfirmed, err := conn.Channel()
	require.NoError(b, err)
	for name, publish := range map[string]func(context.Context) bool{
		"confirmed": func(ctx context.Context) bool { return transport.Send(ctx, message).Delivered },
		"unconfirmed": func(ctx context.Context) bool {
			return unconfirmed.PublishWithContext(ctx, "", taking, true, false, publishing(message, time.Now())) == nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				herd(b, publish)
				b.StopTimer()
				require.Eventually(b, func() bool { kept, err := app.QueuePurge(taking, false); return err == nil && kept == 0 }, time.Minute, 100*time.Millisecond)
				b.StartTimer()
			}
			b.ReportMetric(float64(herdSize)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// herd publishes a herd, each message by a free goroutine.
func herd(b *testing.B, publish func(context.Context) bool) {
	messages := make(chan struct{}, herdSize)
	for range herdSize {
		messages <- struct{}{}
	}
	close(messages)
	var workers sync.WaitGroup
	for range herdWorkers {
		workers.Go(func() {
			for range messages {
				if !publish(b.Context()) {
					b.Error("a message was not taken")
				}
			}
		})
	}
	workers.Wait()
}

// publishes is a channel of an application that has declared the queue, and its connection.
func publishes(b *testing.B, url string) (*amqp.Connection, *amqp.Channel) {
	conn, err := amqp.Dial(url)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	require.NoError(b, err)
	_, err = ch.QueueDeclare(taking, true, false, false, false, nil)
	require.NoError(b, err)
	return conn, ch
}
