package systems

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// clients is how many concurrent calls book a batch without a call for batches; the width of
// Wakecall's own batches.
const clients = 32

// each books timers one by one, several at once. A failure does not hold up the others.
func each(ctx context.Context, timers []Timer, add func(context.Context, Timer) error) (booked int, err error) {
	var group errgroup.Group
	group.SetLimit(clients)
	var added atomic.Int64
	for _, timer := range timers {
		group.Go(func() error {
			if err := add(ctx, timer); err != nil {
				return err
			}
			added.Add(1)
			return nil
		})
	}
	err = group.Wait()
	return int(added.Load()), err
}
