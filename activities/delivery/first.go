package delivery

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// FirstAttempt makes the first attempt of a run, at its time and once. If this worker gets
// the task again, it finds its earlier result. If another worker held the task before, the
// result names that worker, unless it has been asked enough. FirstAttempt steps aside when the
// server must pace the attempt, or when the type's share of this worker is used up.
func (a *Attempter) FirstAttempt(ctx context.Context, d timer.Delivery, payload converter.RawValue) (delivery.Report, error) {
	run := runOf(ctx)
	other := a.Tasks.Predecessor(run)
	if holder := a.receiptHolder(other, d); holder != "" && !a.receipts.Has(run) {
		return delivery.Report{Result: delivery.ResultElsewhere, Worker: holder}, nil
	}
	t := &try{Attempter: a, attempt: attempt{delivery: d, payload: payload}}
	report, repeated, err := a.receipts.Once(run, func() (delivery.Report, error) { return t.runPreloaded(ctx) })
	if repeated {
		a.Observer.Repeated()
	}
	if other != a.Worker && report.Result.Released() {
		report.Worker = other
	}
	a.awaitCompletion(ctx, report.Result)
	return report, err
}

// receiptHolder is the worker to ask for its receipt before this one rings; "" for none. A worker that
// is too busy to answer is asked again while it gives signs of life: it may have rung the timer, and
// only the record of that is late.
func (a *Attempter) receiptHolder(predecessor string, d timer.Delivery) string {
	switch last := d.Unanswered; {
	case !d.Asked && a.mayHaveReceipt(predecessor, d.Spec):
		return predecessor
	case last.Times > 0 && last.Times < tuning.ReceiptQuestions && a.Failover.Lives(last.Worker):
		return last.Worker
	default:
		return ""
	}
}

// mayHaveReceipt reports whether another worker may have a receipt for a timer.
func (a *Attempter) mayHaveReceipt(other string, spec timer.Spec) bool {
	return other != "" && other != a.Worker && !a.Failover.Crashed(other, spec.RingsAt().Time())
}

// awaitCompletion keeps the tasks of a herd from ending all at once. Those that have rung let others go
// first. A caller, another worker or the next attempt waits for what was handed back.
func (a *Attempter) awaitCompletion(ctx context.Context, result delivery.Result) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-tuning.CompletionSlack))
		defer cancel()
	}
	if result.Final() || result == delivery.ResultAccepted {
		a.Tasks.ReserveLast(ctx, runOf(ctx))
	} else {
		a.Tasks.Reserve(ctx, runOf(ctx))
	}
}

// runPreloaded waits until the timer is due, and makes its first attempt.
func (t *try) runPreloaded(ctx context.Context) (delivery.Report, error) {
	if result, err := t.preloader.Await(ctx, t.delivery.Spec); result != "" || err != nil {
		return delivery.Report{Result: result}, err
	}
	return t.runFirst(ctx, time.Now())
}

// runFirst makes the first attempt now, if the timer is still this worker's at the call. since is
// when it was known to be.
func (t *try) runFirst(ctx context.Context, since time.Time) (delivery.Report, error) {
	var err error
	t.settings, err = t.configure(ctx, t.delivery.Spec)
	if errors.Is(err, errUncalled) { // it waits on the queue
		return delivery.Report{Result: delivery.ResultUseQueue}, nil
	}
	if err != nil {
		return delivery.Report{}, err
	}
	t.route = t.chooseRoute(ctx)
	defer t.links.release(t.settings, t.route)
	if t.withRoute(t.route).callback.Stream { // the receiver's gateway makes it
		return handover{t.attempt, t.route}.report(), nil
	}
	if err := awaitNearly(ctx, t.delivery.Spec.RingsAt()); err != nil { // it left early, for a connected receiver
		return delivery.Report{}, err
	}
	leave, ok := t.acquireFastPath(ctx)
	if !ok {
		return t.report(delivery.ResultUseQueue), nil
	}
	defer leave()
	if result, err := t.preloader.Confirm(ctx, t.delivery.Spec, since); result != "" || err != nil {
		return delivery.Report{Result: result}, err
	}
	return t.call(ctx)
}

// acquireFastPath takes a slot of the fast path, if that is open.
func (t *try) acquireFastPath(ctx context.Context) (leave func(), ok bool) {
	if t.paused || t.policy.Rate(time.Now()) != nil {
		return nil, false
	}
	return t.Bulkhead.Enter(ctx, t.policy.BusinessType, t.policy.Limits.FastShare(), t.policy.Limits.InFlight)
}
