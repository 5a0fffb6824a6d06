package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
)

// Deliver makes the next attempt, and fails with the wait until the one after
// it. Its result is not final when the delivery belongs on another queue.
func (r *Ringer) Deliver(ctx context.Context, delivery timer.Delivery, payload converter.RawValue) (timer.Report, error) {
	tries := int(activity.GetInfo(ctx).Attempt)
	if prior := delivery.Prior; prior != nil && delivery.Number(tries, nil) == prior.Attempt {
		return timer.Report{}, failure(*prior)
	}
	// A success whose record was lost on the way to Temporal is not repeated.
	if report, ok := r.receipts.recall(deliveryOf(ctx)); ok {
		return report, nil
	}
	standing, err := r.standing(ctx, delivery)
	if err != nil {
		blind := try{delivery: delivery, number: delivery.Number(tries, nil), last: delivery.Prior}
		return timer.Report{}, failure(blind.postpone(err))
	}
	// A cancel or change that is durable by now comes before this attempt, even
	// if the workflow has not heard of it yet.
	if !standing.Wanted {
		return timer.Report{}, temporal.NewCanceledError()
	}
	next := try{delivery: delivery, payload: payload, last: standing.Last, number: delivery.Number(tries, standing.Last)}
	if next.last == nil {
		next.last = delivery.Prior
	}
	plan, err := r.plan(ctx, delivery.Spec)
	if err != nil {
		return timer.Report{}, failure(next.postpone(err))
	}
	report, err := r.paced(ctx, plan, next)
	if err == nil && report.Result == timer.ResultDelivered {
		r.receipts.keep(deliveryOf(ctx), report)
	}
	if err != nil || report.Result == timer.ResultDelivered || report.Result == timer.ResultAside {
		return report, err
	}
	return timer.Report{}, failure(report)
}

// deliveryOf names the paced delivery of a run among the receipts.
func deliveryOf(ctx context.Context) string { return runOf(ctx) + "/deliver" }

// standingPatience is how long Temporal may take to say how a delivery stands.
const standingPatience = 10 * time.Second

func (r *Ringer) standing(ctx context.Context, delivery timer.Delivery) (timer.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, standingPatience)
	defer cancel()
	for {
		standing, err := r.Runs.Standing(ctx, delivery.Spec.Key, runOf(ctx))
		if err == nil || ctx.Err() != nil || timer.CodeOf(err) == timer.NotFound {
			return standing, err
		}
	}
}

// hurry is by what part of its wait an attempt may come too soon.
const hurry = 10

// paced makes an attempt, or none where it comes too soon, or the type is held back
// or has got a policy, and with it a queue of its own.
func (r *Ringer) paced(ctx context.Context, plan plan, next try) (timer.Report, error) {
	now := time.Now()
	if early := next.delivery.Spec.RingsAt().Until(now); early > 0 { // the engine's clock is ahead
		return next.wait(plan, early), nil
	}
	// Temporal hands the last try's task out once more when its store had said that
	// it was not written.
	if last := next.last; last != nil && last.NextIn(now) > last.RetryIn.D()/hurry {
		return next.wait(plan, timer.CutTo(plan.latest, last.NextIn(now), now)), nil
	}
	if plan.policy.Version != 0 && activity.GetInfo(ctx).TaskQueue != r.Queue(plan.policy.BusinessType) {
		return next.skip(plan, timer.ResultAside), nil
	}
	if until, held := plan.policy.Held(now); held {
		return next.wait(plan, timer.CutTo(plan.latest, until.Until(now), now)), nil
	}
	return r.attempt(ctx, plan, next)
}
