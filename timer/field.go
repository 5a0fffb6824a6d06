package timer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Field says what one field of a request may hold. The checks, the OpenAPI
// document and what the front door does with a zero all go by the same Field.
type Field struct {
	// Pointer leads to the field (RFC 6901), from the body or from the object
	// that has the field.
	Pointer string
	// Lowest and Highest bound the value, in the type of the field: int,
	// float64 or Duration. A Highest of nil is no bound. Both are nil for a
	// text, which must not be empty.
	Lowest, Highest any
	// Zero says what zero means, where zero is allowed although it is below Lowest;
	// "" where it is not allowed.
	Zero string
	// Default holds where the field is left out; nil for none, and for one that
	// follows from other fields.
	Default any
}

// PolicyFields are the fields of a policy.
func PolicyFields() []Field {
	return slices.Concat(under("/callback", callbackFields()), under("/declare", declareFields()), under("/alert", destinationFields()), under("/on_delivered", destinationFields()), under("/on_failed", destinationFields()),
		under("/fallback", append(callbackFields(), fieldFallbackAfter)), under("/ack", []Field{fieldAckWithin}),
		under("/retry", retryFields()), under("/limits", limitFields()), under("/tls", tlsFields()),
		[]Field{
			fieldExpiresAfter, fieldSecretOverlap, fieldPriority.or(DefaultPriority), fieldReuse, fieldMinInterval, fieldPreload,
			fieldMaxBackPressure,
		})
}

// TermsFields are the fields of what may be said about a timer.
func TermsFields() []Field {
	return slices.Concat(under("/callback", callbackFields()), under("/retry", retryFields()),
		under("/recurrence", recurrenceFields()),
		under("/on_delivered", destinationFields()), under("/on_failed", destinationFields()), []Field{fieldDelay, fieldLocalTimezone, fieldMaxWait, fieldExpiresAfter, fieldPriority})
}

func destinationFields() []Field {
	return []Field{fieldURL, fieldBroker, fieldExchange, fieldRoutingKey}
}

func callbackFields() []Field { return append(destinationFields(), fieldTimeout) }

func declareFields() []Field { return []Field{fieldExchangeType, fieldQueue, fieldQueueType} }

func tlsFields() []Field { return []Field{fieldCA, fieldClientCertificate, fieldClientKey} }

func retryFields() []Field {
	return []Field{fieldInitial, fieldMultiplier, fieldMaxInterval, fieldMaxAttempts, fieldRetryJitter}
}

func limitFields() []Field {
	return []Field{fieldAddsPerSecond, fieldAddsBurst, fieldCallbacksPerSecond, fieldInFlight, fieldPending}
}

func recurrenceFields() []Field {
	return []Field{
		fieldEvery, fieldAfter, fieldInitialDelay, fieldMaxOccurrences, fieldRecurrenceJitter,
		fieldTimezone, fieldMissed, fieldOnFailure, fieldDialect,
	}
}

var (
	fieldDelay         = Field{Pointer: "/delay", Lowest: Duration(0), Highest: Duration(MaxAhead)}
	fieldExpiresAfter  = Field{Pointer: "/expires_after", Lowest: Duration(time.Millisecond), Highest: Duration(MaxAhead)}
	fieldMaxWait       = Field{Pointer: "/max_wait", Lowest: Duration(time.Millisecond), Highest: Duration(MaxAhead)}
	fieldLocalTimezone = Field{Pointer: "/timezone"}
	fieldPriority      = Field{Pointer: "/priority", Lowest: MinPriority, Highest: MaxPriority}

	fieldSecretOverlap = Field{
		Pointer: "/secret_overlap", Lowest: Duration(0), Highest: Duration(MaxSecretOverlap), Default: Duration(DefaultSecretOverlap),
	}
	fieldReuse       = Field{Pointer: "/reuse", Default: string(ReuseAfterFailure)}
	fieldMinInterval = Field{
		Pointer: "/min_interval", Lowest: Duration(MinInterval), Highest: Duration(MaxAhead), Default: Duration(MinInterval),
	}
	fieldPreload = Field{
		Pointer: "/preload", Lowest: Duration(MinPreload), Highest: Duration(MaxPreload), Default: Duration(DefaultPreload),
		Zero: "a timer is handed to a worker when it rings and not before",
	}
	fieldMaxBackPressure = Field{
		Pointer: "/max_back_pressure", Lowest: Duration(0), Highest: Duration(MaxRetryAfter), Default: Duration(MaxRetryAfter),
	}

	fieldCA                = Field{Pointer: "/ca"}
	fieldClientCertificate = Field{Pointer: "/client_certificate"}
	fieldClientKey         = Field{Pointer: "/client_key"}

	fieldURL        = Field{Pointer: "/url"}
	fieldBroker     = Field{Pointer: "/broker"}
	fieldExchange   = Field{Pointer: "/exchange"}
	fieldRoutingKey = Field{Pointer: "/routing_key"}

	fieldFallbackAfter = Field{
		Pointer: "/after", Lowest: Duration(MinFallbackAfter), Highest: Duration(MaxFallbackAfter), Default: Duration(DefaultFallbackAfter),
	}

	fieldAckWithin = Field{Pointer: "/within", Lowest: Duration(MinAckWithin), Highest: Duration(MaxAckWithin)}

	// fieldRetryAfter is of a nack.
	fieldRetryAfter = Field{Pointer: "/retry_after", Lowest: Duration(0), Highest: Duration(MaxRetryStep), Default: Duration(0)}

	fieldExchangeType = Field{Pointer: "/exchange_type"}
	fieldQueue        = Field{Pointer: "/queue"}
	fieldQueueType    = Field{Pointer: "/queue_type"}

	fieldTimeout = Field{
		Pointer: "/timeout", Lowest: Duration(MinAttemptTimeout), Highest: Duration(MaxAttemptTimeout),
		Default: Duration(DefaultAttemptTimeout),
	}

	fieldStep        = Field{Lowest: Duration(time.Millisecond), Highest: Duration(MaxRetryStep)}
	fieldInitial     = fieldStep.as("/initial")
	fieldMultiplier  = Field{Pointer: "/multiplier", Lowest: 1.0, Highest: float64(MaxMultiplier), Default: float64(defaultMultiplier)}
	fieldMaxInterval = fieldStep.as("/max_interval")
	fieldMaxAttempts = Field{Pointer: "/max_attempts", Lowest: 1, Highest: MaxAttempts, Default: defaultMaxAttempts}
	fieldRetryJitter = Field{Pointer: "/jitter", Lowest: 0.0, Highest: 1.0, Default: 0.0}

	fieldRate          = Field{Lowest: MinRate, Highest: float64(MaxRate)}
	fieldAddsPerSecond = Field{
		Pointer: "/adds_per_second", Lowest: fieldRate.Lowest, Highest: fieldRate.Highest, Zero: "no bookings at all",
	}
	fieldAddsBurst          = Field{Pointer: "/adds_burst", Lowest: 1, Highest: MaxRate}
	fieldCallbacksPerSecond = Field{
		Pointer: "/callbacks_per_second", Lowest: fieldRate.Lowest, Highest: fieldRate.Highest, Zero: "every callback is held back",
	}
	fieldInFlight = Field{Pointer: "/in_flight", Lowest: 1, Highest: MaxInFlight, Default: DefaultInFlight}
	fieldPending  = Field{Pointer: "/pending", Lowest: 0, Highest: MaxPending}

	fieldEvery            = Field{Pointer: "/every", Lowest: Duration(MinInterval), Highest: Duration(MaxAhead)}
	fieldAfter            = Field{Pointer: "/after", Lowest: Duration(MinInterval), Highest: Duration(MaxAhead)}
	fieldInitialDelay     = Field{Pointer: "/initial_delay", Lowest: Duration(0), Highest: Duration(MaxAhead)}
	fieldMaxOccurrences   = Field{Pointer: "/max_occurrences", Lowest: 1, Highest: MaxOccurrences}
	fieldRecurrenceJitter = Field{Pointer: "/jitter", Lowest: Duration(0), Default: Duration(0)}
	// A step of zero is the due time itself.
	fieldBefore    = Field{Pointer: "/before", Lowest: Duration(0), Highest: Duration(MaxAhead)}
	fieldTimezone  = Field{Pointer: "/timezone", Default: "UTC"}
	fieldDialect   = Field{Pointer: "/dialect"}
	fieldMissed    = Field{Pointer: "/missed", Default: string(MissedFireOnce)}
	fieldOnFailure = Field{Pointer: "/on_failure", Default: string(OnFailureContinue)}
)

func (f Field) as(pointer string) Field { f.Pointer = pointer; return f }

func (f Field) or(fallback any) Field { f.Default = fallback; return f }

func under(pointer string, fields []Field) []Field {
	for i := range fields {
		fields[i].Pointer = pointer + fields[i].Pointer
	}
	return fields
}

// Empty is the zero of the field's type. The types of this package have it where the
// field was left out.
func (f Field) Empty() any {
	if f.Lowest == nil {
		return ""
	}
	return reflect.Zero(reflect.TypeOf(f.Lowest)).Interface()
}

// RefusesZero reports whether a request that says zero is refused. The types of this
// package cannot tell zero from a field that was left out, so whoever reads the request
// has to look.
func (f Field) RefusesZero() bool { return f.Lowest == nil || (f.Lowest != f.Empty() && f.Zero == "") }

// FieldError says what the field may hold.
func (f Field) FieldError() FieldError {
	fieldErr := FieldError{Pointer: f.Pointer, Code: CodeOutOfRange}
	switch {
	case f.Lowest == nil:
		fieldErr.Code, fieldErr.Detail = CodeRequired, "must not be empty"
	case f.Highest == nil && f.Lowest == f.Empty():
		fieldErr.Detail = "must not be negative"
	case f.Highest == nil:
		fieldErr.Detail = fmt.Sprintf("must be at least %v", f.Lowest)
	case f.Zero != "":
		fieldErr.Detail = fmt.Sprintf("must be %v, or from %v to %v", f.Empty(), f.Lowest, f.Highest)
	default:
		fieldErr.Detail = fmt.Sprintf("must be from %v to %v", f.Lowest, f.Highest)
	}
	return fieldErr
}

// enforce refuses a value outside of the field's range. NaN is outside of every range.
func enforce[T cmp.Ordered](errs *FieldErrors, f Field, value T) {
	var zero T
	within := value >= f.Lowest.(T) && (f.Highest == nil || value <= f.Highest.(T))
	if !within && (value != zero || f.Zero == "") {
		*errs = append(*errs, f.FieldError())
	}
}

// enforceNonZero is enforce for a value whose zero means that it was left out.
func enforceNonZero[T cmp.Ordered](errs *FieldErrors, f Field, value T) {
	var zero T
	if value != zero {
		enforce(errs, f, value)
	}
}

// enforceGiven is enforce for a value that is nil where it was left out.
func enforceGiven[T cmp.Ordered](errs *FieldErrors, f Field, value *T) {
	if value != nil {
		enforce(errs, f, *value)
	}
}
