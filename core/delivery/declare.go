package delivery

import (
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Declare says what Wakecall declares at the broker of a policy's callback before it
// sends there, durable and never deleted. What is left out has to be there already. To
// declare what is there with the same properties changes nothing.
type Declare struct {
	// ExchangeType makes the callback's exchange be declared, with this type.
	ExchangeType ExchangeType `json:"exchange_type,omitzero"`
	// Queue is the name of one that is declared, and bound to the exchange by the
	// callback's routing key.
	Queue string `json:"queue,omitzero"`
	// QueueType is the queue's; left out, it is the default of the broker.
	QueueType QueueType `json:"queue_type,omitzero"`
}

// ExchangeType says which queues an exchange gives a message to.
type ExchangeType string

// The closed list of types of exchanges.
const (
	ExchangeDirect ExchangeType = "direct"
	ExchangeTopic  ExchangeType = "topic"
	ExchangeFanout ExchangeType = "fanout"
)

// QueueType says how a queue keeps its messages.
type QueueType string

// The closed list of types of queues.
const (
	QueueClassic QueueType = "classic"
	// QueueQuorum keeps its messages on several nodes of the broker.
	QueueQuorum QueueType = "quorum"
)

// ExchangeTypes and QueueTypes list every type.
func ExchangeTypes() []ExchangeType {
	return []ExchangeType{ExchangeDirect, ExchangeTopic, ExchangeFanout}
}

// QueueTypes is described with [ExchangeTypes].
func QueueTypes() []QueueType { return []QueueType{QueueClassic, QueueQuorum} }

// brokersOwn begins the names that a broker keeps for itself.
const brokersOwn = "amq."

// Check returns what is wrong with what is declared for a destination, whose routing key
// is filled in.
func (d Declare) Check(at Destination) (errs wire.FieldErrors) {
	switch {
	case at.Broker == "":
		errs.Add("", wire.CodeConflict, "goes with callback.broker")
	case d == Declare{}:
		errs.Add("", wire.CodeRequired, "name exchange_type, queue or both")
	case d.Queue == "" && d.QueueType != "":
		errs.Add("/queue_type", wire.CodeConflict, "goes with queue")
	}
	errs = append(errs, d.checkExchange(at.Exchange)...)
	return append(errs, d.checkQueue(at)...)
}

func (d Declare) checkExchange(exchange string) (errs wire.FieldErrors) {
	const pointer = "/exchange_type"
	switch {
	case d.ExchangeType == "":
	case !slices.Contains(ExchangeTypes(), d.ExchangeType):
		errs.Add(pointer, wire.CodeInvalidBroker, "must be direct, topic or fanout")
	case exchange == "":
		errs.Add(pointer, wire.CodeConflict, "goes with callback.exchange: the default exchange is always there")
	case strings.HasPrefix(exchange, brokersOwn):
		errs.Add(pointer, wire.CodeConflict, "does not go with an exchange of the broker's own, whose name begins with "+brokersOwn)
	}
	return errs
}

func (d Declare) checkQueue(at Destination) (errs wire.FieldErrors) {
	const pointer = "/queue"
	errs = checkShortString(pointer, d.Queue)
	switch {
	case d.Queue == "" || len(errs) > 0:
	case strings.HasPrefix(d.Queue, brokersOwn):
		errs.Add(pointer, wire.CodeInvalidBroker, "must not begin with "+brokersOwn+": such names are the broker's own")
	case at.Broker != "" && at.Exchange == "" && d.Queue != at.RoutingKey:
		errs.Add(pointer, wire.CodeConflict, "must be the routing key, which without callback.exchange is the name of the queue")
	}
	if d.QueueType != "" && !slices.Contains(QueueTypes(), d.QueueType) {
		errs.Add("/queue_type", wire.CodeInvalidBroker, "must be classic or quorum")
	}
	return errs
}
