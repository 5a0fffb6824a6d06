package timer

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Fields returns the fields of a timer's terms.
func Fields() []wire.Field {
	return slices.Concat(wire.FieldsUnder("/callback", delivery.CallbackFields()), wire.FieldsUnder("/retry", delivery.RetryFields()),
		wire.FieldsUnder("/recurrence", recurrence.Fields()),
		wire.FieldsUnder("/on_delivered", delivery.DestinationFields()), wire.FieldsUnder("/on_failed", delivery.DestinationFields()),
		[]wire.Field{FieldDelay, fieldLocalTimezone, fieldMaxWait, policy.FieldExpiresAfter, policy.FieldPriority})
}

// The fields of timers. Other rooms enforce the exported ones too.
var (
	FieldDelay         = wire.Field{Pointer: "/delay", Lowest: wire.Duration(0), Highest: wire.Duration(wire.MaxAhead)}
	fieldMaxWait       = wire.Field{Pointer: "/max_wait", Lowest: wire.Duration(time.Millisecond), Highest: wire.Duration(wire.MaxAhead)}
	fieldLocalTimezone = wire.Field{Pointer: "/timezone"}
)
