package receiver

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// Queue is an application's end of a broker.
type Queue struct {
	*amqp.Channel

	Name string

	t testing.TB
}

// NewQueue declares a queue at the broker at a URL.
func NewQueue(t testing.TB, url, name string) Queue {
	t.Helper()
	conn, err := amqp.Dial(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare(name, true, false, false, false, nil)
	require.NoError(t, err)
	return Queue{ch, name, t}
}

// Next waits for the next message, and takes it.
func (q Queue) Next() (d amqp.Delivery) {
	q.t.Helper()
	require.Eventually(q.t, func() bool {
		var ok bool
		var err error
		d, ok, err = q.Get(q.Name, true)
		return err == nil && ok
	}, process.Patience, process.Interval, "a message is in the queue %s", q.Name)
	return d
}
