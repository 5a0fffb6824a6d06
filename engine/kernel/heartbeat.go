package kernel

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
)

// Heartbeat is a heartbeat of the attempt with a token, and stores its progress. The SDK may keep a
// heartbeat back for a while. This one is stored when the call returns. The errors are [wire.NotFound]
// if another attempt may have the place of this one, [wire.Overtaken] if it must stop, and
// [wire.Unavailable].
func (k *Kernel) Heartbeat(ctx context.Context, token []byte, progress any) error {
	err := k.Client.RecordActivityHeartbeat(ctx, token, progress)
	switch {
	case temporal.IsCanceledError(err):
		return &wire.Error{Code: wire.Overtaken, Message: "The attempt was cancelled.", Cause: err}
	case errtype.Is[*serviceerror.NotFound](err), errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
		return &wire.Error{Code: wire.NotFound, Message: "The attempt was replaced.", Cause: err}
	}
	return Translate(err)
}
