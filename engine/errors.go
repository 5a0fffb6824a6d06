package engine

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
)

// translate puts an error of Temporal's into the words of package timer. What
// is not known to be otherwise has an unknown outcome: the caller may repeat
// the same request, which is safe.
func translate(err error) error {
	if err == nil || errtype.Is[*wire.Error](err) {
		return err
	}
	if errtype.Is[*serviceerror.NotFound](err) {
		return &wire.Error{Code: wire.NotFound, Message: "There is no such timer.", Cause: err}
	}
	return &wire.Error{
		Code: wire.Unavailable, Cause: err,
		Message: "The timer engine did not answer. The request may or may not have taken effect; repeat it.",
	}
}

// errForeign is why there is no timer: its id is that of a workflow which is
// none of ours.
var errForeign = errors.New("the workflow is not a timer")

// taken answers a booking whose id is taken, but by no timer.
func taken(err error) error {
	if wire.CodeOf(err) != wire.NotFound {
		return err
	}
	if errors.Is(err, errForeign) {
		return &wire.Error{
			Code: wire.IDTaken, Cause: errForeign,
			Message: "A workflow of this Temporal namespace that is not a timer has the id of the timer.",
		}
	}
	return translate(errVanished)
}

// errVanished is a timer that was deleted while it was asked for.
var errVanished = errors.New("the timer that had the id is gone")

// expired reports whether a call ended because its time was up.
func expired(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded ||
		errtype.Is[*serviceerror.DeadlineExceeded](err)
}
