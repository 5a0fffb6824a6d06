package systems

import (
	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// rabbitmq is Wakecall with timers as messages at a separate RabbitMQ: one node, a durable
// queue, each message confirmed when it is on the disk.
type rabbitmq struct {
	wakecall
	broker *rabbit.Server
}

// Start starts both.
func (r *rabbitmq) Start(s *stage.Stage, receiver string) error {
	deployment := &standaloneDeployment{}
	err := s.Do(func() {
		r.broker = rabbit.Start(s)
		deployment.env = map[string]string{"WAKECALL_BROKERS": rabbit.BrokersFile(s, r.broker.URL)}
	})
	if err != nil {
		return err
	}
	r.wakecall = wakecall{
		deployment: deployment, callback: delivery.Destination{Broker: "main", Exchange: plain, RoutingKey: plain},
		declare: &delivery.Declare{ExchangeType: delivery.ExchangeDirect, Queue: plain},
	}
	return r.wakecall.Start(s, receiver)
}

// Queue is the queue from which the receiver takes the messages.
func (r *rabbitmq) Queue() Queue { return Queue{URL: r.broker.URL, Name: plain} }
