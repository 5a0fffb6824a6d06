package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Receipt returns what this worker knows of a run's first attempt, or names the other worker
// that had the task.
func (a *Attempter) Receipt(ctx context.Context, d timer.Delivery) (delivery.Report, error) {
	report, err := a.OwnReceipt(ctx, d)
	if err != nil || report.Result != delivery.ResultUseQueue {
		return report, err
	}
	holder, err := a.Runs.Holder(ctx, d.Spec.Key, runOf(ctx))
	if err != nil {
		return delivery.Report{}, err
	}
	if a.mayHaveReceipt(holder, d.Spec) {
		return delivery.Report{Result: delivery.ResultElsewhere, Worker: holder}, nil
	}
	return report, nil
}

// OwnReceipt returns what this worker knows of a run's first attempt. It waits for an attempt
// under way, and heartbeats meanwhile, so that a frozen worker differs from a waiting one.
func (a *Attempter) OwnReceipt(ctx context.Context, _ timer.Delivery) (report delivery.Report, err error) {
	found := make(chan struct{})
	go func() {
		defer close(found)
		report, err = a.receipts.Wait(ctx, runOf(ctx))
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

// StoreReceipts stores the reports of attempts in the runs that have not recorded them. This
// process stops and may be the only one, so no other can ask it. A run that cannot be
// reached rings again, as after a crash.
func (a *Attempter) StoreReceipts(ctx context.Context) {
	var sending errgroup.Group
	sending.SetLimit(tuning.ReceiptsAtOnce)
	for run, workflowID := range a.Tasks.Unrecorded() {
		if report, ok := a.receipts.Get(run); ok {
			sending.Go(func() error { return a.Runs.StoreReceipt(ctx, workflowID, run, report) })
		}
	}
	_ = sending.Wait() // most have been recorded by another worker, and have ended
}
