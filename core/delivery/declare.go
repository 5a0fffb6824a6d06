package delivery

import (
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Declare lists what Wakecall declares at the broker of a policy's callback before it sends
// there. It is durable and never deleted. Anything left out must exist already. Repeating a
// declaration with the same properties changes nothing.
type Declare struct {
	// ExchangeType, if set, declares the callback's exchange with this type.
	ExchangeType ExchangeType `json:"exchange_type,omitzero"`
	// Queue names a queue to declare and to bind to the exchange by the callback's routing key.
	Queue string `json:"queue,omitzero"`
	// QueueType is the type of the queue; left out, it is the broker's default.
	QueueType QueueType `json:"queue_type,omitzero"`
}

// ExchangeType is the rule by which an exchange selects queues.
type ExchangeType string

// The closed list of types of exchanges.
const (
	ExchangeDirect ExchangeType = "direct"
	ExchangeTopic  ExchangeType = "topic"
	ExchangeFanout ExchangeType = "fanout"
)

// QueueType is the way a queue stores its messages.
type QueueType string

// The closed list of types of queues.
const (
	QueueClassic QueueType = "classic"
	// QueueQuorum stores messages on several nodes of the broker.
	QueueQuorum QueueType = "quorum"
)

// ExchangeTypes and QueueTypes list every type.
func ExchangeTypes() []ExchangeType {
	return []ExchangeType{ExchangeDirect, ExchangeTopic, ExchangeFanout}
}

// QueueTypes is described with [ExchangeTypes].
func QueueTypes() []QueueType { return []QueueType{QueueClassic, QueueQuorum} }

// brokersOwn is the prefix of names reserved by a broker.
const brokersOwn = "amq."

// Check returns what is wrong with the declarations for a destination with its routing key.
func (d Declare) Check(at Destination) (errs wire.FieldErrors) {
	switch {
	case at.Broker == "":
		errs.AddBeside("", wire.CodeConflict, "is allowed only with callback.broker", "/../callback/broker")
	case d == Declare{}:
		errs.AddBeside("", wire.CodeRequired, "name exchange_type, queue or both", "")
	case d.Queue == "" && d.QueueType != "":
		errs.AddBeside("/queue_type", wire.CodeConflict, "is allowed only with queue", "/queue")
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
		errs.AddBeside(pointer, wire.CodeConflict, "is allowed only with callback.exchange: the default exchange is always there",
			"/../callback/exchange")
	case strings.HasPrefix(exchange, brokersOwn):
		errs.Add(pointer, wire.CodeConflict, "is not allowed with a broker's predefined exchange, whose name begins with "+brokersOwn)
	}
	return errs
}

func (d Declare) checkQueue(at Destination) (errs wire.FieldErrors) {
	const pointer = "/queue"
	errs = checkShortString(pointer, d.Queue)
	switch {
	case d.Queue == "" || len(errs) > 0:
	case strings.HasPrefix(d.Queue, brokersOwn):
		errs.Add(pointer, wire.CodeInvalidBroker, "must not begin with "+brokersOwn+": such names are reserved by the broker")
	case at.Broker != "" && at.Exchange == "" && d.Queue != at.RoutingKey:
		errs.AddBeside(pointer, wire.CodeConflict, "must be the routing key: without callback.exchange it names the queue",
			"/../callback/exchange", "/../callback/routing_key")
	}
	if d.QueueType != "" && !slices.Contains(QueueTypes(), d.QueueType) {
		errs.Add("/queue_type", wire.CodeInvalidBroker, "must be classic or quorum")
	}
	return errs
}
