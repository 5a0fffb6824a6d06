package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Receipt says what this worker knows of a run's first attempt, or which other
// worker had the task.
func (a *Attempter) Receipt(ctx context.Context, d timer.Delivery) (delivery.Report, error) {
	report, err := a.Ask(ctx, d)
	if err != nil || report.Result != delivery.ResultUseQueue {
		return report, err
	}
	holder, err := a.Runs.Holder(ctx, d.Spec.Key, runOf(ctx))
	if err != nil {
		return delivery.Report{}, err
	}
	if holder != a.Worker && holder != "" {
		return delivery.Report{Result: delivery.ResultElsewhere, Worker: holder}, nil
	}
	return report, nil
}

// Ask says what this worker knows of a run's first attempt. One that is under
// way is waited for, with signs of life: a worker that is frozen has to be told
// from one that waits.
func (a *Attempter) Ask(ctx context.Context, _ timer.Delivery) (report delivery.Report, err error) {
	found := make(chan struct{})
	go func() {
		defer close(found)
		report, err = a.receipts.find(ctx, runOf(ctx))
	}()
	beat := time.NewTicker(tuning.ReceiptHeartbeat)
	defer beat.Stop()
	for {
		select {
		case <-found:
			return report, err
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
		}
	}
}
