package kernel

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
)

// Translate translates an error of Temporal's into one of package wire. Every other error
// has an unknown outcome: the caller may repeat the same request, which is safe.
func Translate(err error) error {
	if err == nil || errtype.Is[*wire.Error](err) {
		return err
	}
	if errtype.Is[*serviceerror.NotFound](err) {
		return &wire.Error{Code: wire.NotFound, Message: "There is no such timer.", Cause: err}
	}
	return &wire.Error{
		Code: wire.Unavailable, Cause: err,
		Message: "The timer engine did not answer. The request may or may not have taken effect; repeat it.",
		OfRead:  "The timer engine did not answer. Repeat the request.",
	}
}

// ErrPageToken returns the refusal of a page token that no answer had.
func ErrPageToken() error {
	return wire.FieldErrors{{Pointer: "page_token", Code: wire.CodeInvalidParameter, Detail: "is not one of ours"}}.Err()
}

// OfToken returns the error of a call that carries what a page token says. Temporal refuses what it
// did not make as an invalid argument.
func OfToken(err error) error {
	if errtype.Is[*serviceerror.InvalidArgument](err) {
		return ErrPageToken()
	}
	return err
}

// Expired reports whether a call ended because its time was up.
func Expired(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded ||
		errtype.Is[*serviceerror.DeadlineExceeded](err)
}
