package wire

import "errors"

// Code is why a call could not be done. It is also the last part of the type of the
// problem document that the API answers with.
type Code string

// Why the core, or the engine, could not do what it was asked for. The API has a few
// more, for requests that do not come this far.
const (
	InvalidRequest       Code = "invalid-request"
	UnknownBusinessType  Code = "unknown-business-type"
	NotFound             Code = "not-found"
	AlreadyExists        Code = "already-exists"
	AlreadyFinished      Code = "already-finished"
	CancelPending        Code = "cancel-pending"
	IDTaken              Code = "id-taken"
	IdempotencyKeyReused Code = "idempotency-key-reused"
	NotRecurring         Code = "not-recurring"
	Overtaken            Code = "overtaken"
	PreconditionFailed   Code = "precondition-failed"
	ChangedTooOften      Code = "changed-too-often"
	PolicyInUse          Code = "policy-in-use"
	QuotaExceeded        Code = "quota-exceeded"
	NotStreamed          Code = "not-streamed"
	RingOver             Code = "ring-over"
	NotAwaited           Code = "not-awaited"
	WrongAckToken        Code = "wrong-ack-token"
	Unavailable          Code = "unavailable"
	Internal             Code = "internal"
)

// Error is a refusal or a failure that a caller may be told about.
type Error struct {
	Code        Code
	Message     string      // a sentence for the caller
	FieldErrors FieldErrors // the refused fields, if fields were refused
	State       any         // what refused the call as it truly is, where that is the reason: a *View, a *View
	Quota       *Quota      // the limit that was reached, where it is the reason
	Cause       error       // for the log only
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Message
	if len(e.FieldErrors) > 0 {
		text += " " + e.FieldErrors.Error()
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }

// CodeOf is the code of err; any error that is not ours is Internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
