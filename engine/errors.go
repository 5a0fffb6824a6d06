package engine

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/timer"
)

// translate puts an error of Temporal's into the words of package timer. What
// is not known to be otherwise has an unknown outcome: the caller may repeat
// the same request, which is safe.
func translate(err error) error {
	if err == nil || is[*timer.Error](err) {
		return err
	}
	if is[*serviceerror.NotFound](err) {
		return &timer.Error{Code: timer.NotFound, Message: "There is no such timer.", Cause: err}
	}
	return &timer.Error{
		Code: timer.Unavailable, Cause: err,
		Message: "The timer engine did not answer. The request may or may not have taken effect; repeat it.",
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// expired reports whether a call ended because its time was up.
func expired(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded ||
		is[*serviceerror.DeadlineExceeded](err)
}
