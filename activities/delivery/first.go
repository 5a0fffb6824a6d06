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

// FirstAttempt makes the first attempt of a run, at its time and once: a workflow task
// that is handed out again to this worker finds what it did, and one that another
// worker had before names that worker, unless it has been asked. It steps aside
// when the server must pace the attempt, or when the type's share of this
// worker is used up.
func (a *Attempter) FirstAttempt(ctx context.Context, d timer.Delivery, payload converter.RawValue) (delivery.Report, error) {
	if other := a.Tasks.Predecessor(runOf(ctx)); other != "" && other != a.Worker && !d.Asked && !a.receipts.has(runOf(ctx)) {
		return delivery.Report{Result: delivery.ResultElsewhere, Worker: other}, nil
	}
	report, repeated, err := a.receipts.once(runOf(ctx), func() (delivery.Report, error) {
		if result, err := a.preload(ctx, d.Spec); result != "" || err != nil {
			return delivery.Report{Result: result}, err
		}
		return a.attemptNow(ctx, d, payload)
	})
	if repeated {
		a.Observer.Repeated()
	}
	a.awaitCompletion(ctx)
	return report, err
}

// awaitCompletion keeps the tasks of a herd from ending all at once.
func (a *Attempter) awaitCompletion(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-tuning.CompletionSlack))
		defer cancel()
	}
	a.Tasks.Reserve(ctx, runOf(ctx))
}

func (a *Attempter) attemptNow(ctx context.Context, d timer.Delivery, payload converter.RawValue) (delivery.Report, error) {
	config, err := a.configure(ctx, d.Spec)
	if errors.Is(err, errUncalled) { // it waits on the queue
		return delivery.Report{Result: delivery.ResultUseQueue}, nil
	}
	if err != nil {
		return delivery.Report{}, err
	}
	next := attempt{delivery: d, payload: payload, patient: true}
	r := a.route(ctx, config, nil)
	defer a.links.abandon(config, r)
	if config.by(r).callback.Stream { // it is made where the receiver is connected
		return config.handOver(next, r), nil
	}
	if err := awaitNearly(ctx, d.Spec.RingsAt()); err != nil { // it left early, for a receiver that connects
		return delivery.Report{}, err
	}
	leave, ok := a.enter(ctx, config)
	if !ok {
		return config.report(delivery.ResultUseQueue), nil
	}
	defer leave()
	return a.call(ctx, config, next, r)
}

// enter takes the fast path, where it is open.
func (a *Attempter) enter(ctx context.Context, config attemptConfig) (leave func(), ok bool) {
	policy := config.policy
	if config.paused || policy.Rate(time.Now()) != nil {
		return nil, false
	}
	return a.Bulkhead.Enter(ctx, policy.BusinessType, policy.Limits.FastShare(), policy.Limits.InFlight)
}
