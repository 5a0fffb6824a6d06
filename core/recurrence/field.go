package recurrence

import "github.com/wakecall/wakecall/core/wire"

// Fields are the fields of a rule.
func Fields() []wire.Field {
	return []wire.Field{
		fieldEvery, fieldAfter, fieldInitialDelay, fieldMaxOccurrences, fieldRecurrenceJitter,
		fieldTimezone, fieldMissed, fieldOnFailure, fieldDialect,
	}
}

var (
	fieldEvery            = wire.Field{Pointer: "/every", Lowest: wire.Duration(MinInterval), Highest: wire.Duration(wire.MaxAhead)}
	fieldAfter            = wire.Field{Pointer: "/after", Lowest: wire.Duration(MinInterval), Highest: wire.Duration(wire.MaxAhead)}
	fieldInitialDelay     = wire.Field{Pointer: "/initial_delay", Lowest: wire.Duration(0), Highest: wire.Duration(wire.MaxAhead)}
	fieldMaxOccurrences   = wire.Field{Pointer: "/max_occurrences", Lowest: 1, Highest: MaxOccurrences}
	fieldRecurrenceJitter = wire.Field{Pointer: "/jitter", Lowest: wire.Duration(0), Default: wire.Duration(0)}
	// A step of zero is the due time itself.
	fieldBefore    = wire.Field{Pointer: "/before", Lowest: wire.Duration(0), Highest: wire.Duration(wire.MaxAhead)}
	fieldTimezone  = wire.Field{Pointer: "/timezone", Default: "UTC"}
	fieldDialect   = wire.Field{Pointer: "/dialect"}
	fieldMissed    = wire.Field{Pointer: "/missed", Default: string(MissedFireOnce)}
	fieldOnFailure = wire.Field{Pointer: "/on_failure", Default: string(OnFailureContinue)}
)
