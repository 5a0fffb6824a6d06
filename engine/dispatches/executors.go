package dispatches

import (
	"context"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/engine/kernel"
)

// Executors are the activities that send the items of shards.
type Executors struct{ kernel *kernel.Kernel }

// Heartbeat is a heartbeat of an executor, see the activity. The errors are those of
// [kernel.Kernel.Heartbeat].
func (e *Executors) Heartbeat(ctx context.Context, token []byte, state dispatch.State) error {
	return e.kernel.Heartbeat(ctx, token, state)
}
