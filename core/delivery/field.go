package delivery

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// DestinationFields returns the fields of a destination.
func DestinationFields() []wire.Field {
	return []wire.Field{FieldURL, fieldBroker, fieldExchange, fieldRoutingKey}
}

// CallbackFields returns the fields of a callback.
func CallbackFields() []wire.Field { return append(DestinationFields(), FieldTimeout) }

// DeclareFields returns the fields of a declaration at a broker.
func DeclareFields() []wire.Field { return []wire.Field{fieldExchangeType, fieldQueue, fieldQueueType} }

// RetryFields returns the fields of a retry ladder.
func RetryFields() []wire.Field {
	return []wire.Field{fieldInitial, fieldMultiplier, fieldMaxInterval, fieldMaxAttempts, fieldRetryJitter}
}

// The fields of deliveries. Other rooms enforce the exported ones too.
var (
	FieldURL        = wire.Field{Pointer: "/url"}
	fieldBroker     = wire.Field{Pointer: "/broker"}
	fieldExchange   = wire.Field{Pointer: "/exchange"}
	fieldRoutingKey = wire.Field{Pointer: "/routing_key"}

	FieldFallbackAfter = wire.Field{
		Pointer: "/after", Lowest: wire.Duration(MinFallbackAfter), Highest: wire.Duration(MaxFallbackAfter),
		Default: wire.Duration(DefaultFallbackAfter),
	}

	FieldAckWithin = wire.Field{Pointer: "/within", Lowest: wire.Duration(MinAckWithin), Highest: wire.Duration(MaxAckWithin)}

	// fieldRetryAfter belongs to a nack.
	fieldRetryAfter = wire.Field{Pointer: "/retry_after", Lowest: wire.Duration(0), Highest: wire.Duration(MaxRetryStep),
		Default: wire.Duration(0)}

	fieldExchangeType = wire.Field{Pointer: "/exchange_type"}
	fieldQueue        = wire.Field{Pointer: "/queue"}
	fieldQueueType    = wire.Field{Pointer: "/queue_type"}

	FieldTimeout = wire.Field{
		Pointer: "/timeout", Lowest: wire.Duration(MinAttemptTimeout), Highest: wire.Duration(MaxAttemptTimeout),
		Default: wire.Duration(DefaultAttemptTimeout),
	}

	fieldStep        = wire.Field{Lowest: wire.Duration(time.Millisecond), Highest: wire.Duration(MaxRetryStep)}
	fieldInitial     = fieldStep.At("/initial")
	fieldMultiplier  = wire.Field{Pointer: "/multiplier", Lowest: 1.0, Highest: float64(MaxMultiplier), Default: float64(defaultMultiplier)}
	fieldMaxInterval = fieldStep.At("/max_interval")
	fieldMaxAttempts = wire.Field{Pointer: "/max_attempts", Lowest: 1, Highest: MaxAttempts, Default: defaultMaxAttempts}
	fieldRetryJitter = wire.Field{Pointer: "/jitter", Lowest: 0.0, Highest: 1.0, Default: 0.0}
)
