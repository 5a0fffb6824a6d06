package policy

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Fields returns the fields of a policy.
func Fields() []wire.Field {
	return slices.Concat(wire.FieldsUnder("/callback", delivery.CallbackFields()),
		wire.FieldsUnder("/declare", delivery.DeclareFields()), wire.FieldsUnder("/alert", delivery.DestinationFields()),
		wire.FieldsUnder("/on_delivered", delivery.DestinationFields()), wire.FieldsUnder("/on_failed", delivery.DestinationFields()),
		wire.FieldsUnder("/fallback", append(delivery.CallbackFields(), delivery.FieldFallbackAfter)),
		wire.FieldsUnder("/ack", []wire.Field{delivery.FieldAckWithin}),
		wire.FieldsUnder("/retry", delivery.RetryFields()), wire.FieldsUnder("/limits", limitFields()), wire.FieldsUnder("/tls", tlsFields()),
		[]wire.Field{
			FieldExpiresAfter, fieldSecretOverlap, FieldPriority.Or(DefaultPriority), fieldReuse, fieldMinInterval, fieldPreload, fieldOnTime,
			fieldMaxBackPressure,
		})
}

func tlsFields() []wire.Field { return []wire.Field{fieldCA, fieldClientCertificate, fieldClientKey} }

func limitFields() []wire.Field {
	return []wire.Field{fieldAddsPerSecond, fieldAddsBurst, fieldCallbacksPerSecond, fieldInFlight, fieldPending}
}

// The fields of policies. Other rooms enforce the exported ones too.
var (
	FieldExpiresAfter = wire.Field{Pointer: "/expires_after", Lowest: wire.Duration(time.Millisecond), Highest: wire.Duration(wire.MaxAhead)}
	FieldPriority     = wire.Field{Pointer: "/priority", Lowest: MinPriority, Highest: MaxPriority}

	fieldSecretOverlap = wire.Field{
		Pointer: "/secret_overlap", Lowest: wire.Duration(0), Highest: wire.Duration(MaxSecretOverlap),
		Default: wire.Duration(DefaultSecretOverlap),
	}
	fieldReuse       = wire.Field{Pointer: "/reuse", Default: string(ReuseAfterFailure)}
	fieldMinInterval = wire.Field{
		Pointer: "/min_interval", Lowest: wire.Duration(recurrence.MinInterval), Highest: wire.Duration(wire.MaxAhead),
		Default: wire.Duration(recurrence.MinInterval),
	}
	fieldPreload = wire.Field{
		Pointer: "/preload", Lowest: wire.Duration(MinPreload), Highest: wire.Duration(MaxPreload), Default: wire.Duration(DefaultPreload),
		Zero: "a worker gets a timer only when it rings",
	}
	fieldOnTime = wire.Field{
		Pointer: "/on_time", Lowest: wire.Duration(MinOnTime), Highest: wire.Duration(MaxOnTime), Default: wire.Duration(DefaultOnTime),
	}
	fieldMaxBackPressure = wire.Field{
		Pointer: "/max_back_pressure", Lowest: wire.Duration(0), Highest: wire.Duration(delivery.MaxRetryAfter),
		Default: wire.Duration(delivery.MaxRetryAfter),
	}

	fieldCA                = wire.Field{Pointer: "/ca"}
	fieldClientCertificate = wire.Field{Pointer: "/client_certificate"}
	fieldClientKey         = wire.Field{Pointer: "/client_key"}

	fieldRate          = wire.Field{Lowest: MinRate, Highest: float64(MaxRate)}
	fieldAddsPerSecond = wire.Field{
		Pointer: "/adds_per_second", Lowest: fieldRate.Lowest, Highest: fieldRate.Highest, Zero: "no bookings at all",
	}
	fieldAddsBurst          = wire.Field{Pointer: "/adds_burst", Lowest: 1, Highest: MaxRate}
	fieldCallbacksPerSecond = wire.Field{
		Pointer: "/callbacks_per_second", Lowest: fieldRate.Lowest, Highest: fieldRate.Highest, Zero: "every callback is held back",
	}
	fieldInFlight = wire.Field{Pointer: "/in_flight", Lowest: 1, Highest: MaxInFlight, Default: DefaultInFlight}
	fieldPending  = wire.Field{Pointer: "/pending", Lowest: 0, Highest: MaxPending}
)
