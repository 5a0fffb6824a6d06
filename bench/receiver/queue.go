package receiver

import (
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Consume takes rings from a durable queue and acknowledges them, as an application does. It
// skips messages that are no rings; their timers count as lost. stop ends it.
func (r *Receiver) Consume(url, queue string) (stop func(), err error) {
	conn, err := amqp.Dial(url)
	if err != nil {
		return nil, err
	}
	messages, err := consume(conn, queue)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for message := range messages { // closed with the connection
			due, _ := message.Headers[DueHeader].(string)
			_ = r.record(Ring{At: time.Now()}, message.Body, due)
			_ = message.Ack(false)
		}
	})
	return func() {
		_ = conn.Close()
		ended.Wait()
	}, nil
}

// unacknowledged is how many messages the broker hands out ahead.
const unacknowledged = 1000

func consume(conn *amqp.Connection, queue string) (<-chan amqp.Delivery, error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Qos(unacknowledged, 0, false); err != nil {
		return nil, err
	}
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		return nil, err
	}
	return ch.Consume(queue, "", false, false, false, false, nil)
}
