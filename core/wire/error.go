package wire

import "errors"

// Code is the reason why a call failed. It is also the last part of the type of the API's
// problem document.
type Code string

// The reasons of the core and the engine. The API adds a few for requests that do not reach
// them.
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
	HeldBack             Code = "held-back"
	QuotaExceeded        Code = "quota-exceeded"
	NotStreamed          Code = "not-streamed"
	RingOver             Code = "ring-over"
	NotAwaited           Code = "not-awaited"
	WrongAckToken        Code = "wrong-ack-token"
	Unavailable          Code = "unavailable"
	Internal             Code = "internal"
)

// Error is a refusal or a failure to report to a caller.
type Error struct {
	Code        Code
	Message     string      // a sentence for the caller
	OfRead      string      // what Message is to a caller who has asked for no change; "" for the same
	FieldErrors FieldErrors // the refused fields, if fields were refused
	State       any         // the true state of the object that refused the call: a *timer.View, a *dispatch.View or []health.Check
	Quota       *Quota      // the limit that was reached, if any
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

// OfRead returns an error as the caller of a call that changes nothing gets it.
func OfRead(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.OfRead == "" {
		return err
	}
	read := *e
	read.Message, read.OfRead = e.OfRead, ""
	return &read
}

// CodeOf returns the code of err. It is Internal for an error of another type, and for nil.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
