// Package amqpsend carries messages into the queues of RabbitMQ. A message counts as delivered
// when the broker has confirmed that it keeps it. Only this package knows amqp091-go.
package amqpsend
