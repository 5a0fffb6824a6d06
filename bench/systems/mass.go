package systems

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine"
)

// Mass orders a dispatch at the highest allowed rate.
func (w *wakecall) Mass(ctx context.Context, timers []Timer, from time.Time) error {
	dispatches := engine.New(engine.Config{Client: w.temporal, Namespace: "default"}).Dispatches
	due := wire.At(from)
	order := dispatch.Dispatch{
		Key: wire.Key{BusinessType: plain, BusinessID: "mass-" + due.String()}, PerSecond: dispatch.MaxRate, DueAt: &due,
	}
	if _, _, err := dispatches.Open(ctx, order); err != nil {
		return err
	}
	upload, err := dispatches.Upload(ctx, order.Key, 0)
	if err != nil {
		return err
	}
	for _, t := range timers {
		if err := upload.Append(ctx, dispatch.Item{ID: t.ID, Payload: payload(t.ID)}); err != nil {
			return err
		}
	}
	_, err = upload.Commit(ctx)
	return err
}
