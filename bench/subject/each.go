package subject

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// clients is how many calls at once book a batch where there is no call for
// batches; the width that Wakecall's own batches have.
const clients = 32

// each books timers one by one, several at once.
func each(ctx context.Context, timers []Timer, add func(context.Context, Timer) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for _, timer := range timers {
		group.Go(func() error { return add(ctx, timer) })
	}
	return group.Wait()
}
