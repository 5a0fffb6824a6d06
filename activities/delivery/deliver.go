package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Deliver makes the next attempt, and fails with the wait until the one after
// it. Its result is not final when the delivery belongs on another queue.
func (a *Attempter) Deliver(ctx context.Context, d timer.Delivery, payload converter.RawValue) (delivery.Report, error) {
	report, err := a.deliver(ctx, attempt{delivery: d, payload: payload, last: recorded(ctx), patient: d.Live})
	switch {
	case err != nil:
		return delivery.Report{}, err
	case report.Result == delivery.ResultDelivered || report.Result == delivery.ResultAccepted || report.Result == delivery.ResultUseQueue:
		return report, nil
	case !d.Live: // its time was fixed when it was scheduled, and a longer wait would end it
		report.RetryIn = wire.Duration(delivery.CutTo(report.Latest, report.RetryIn.D(), report.EndedAt.Time()))
	}
	return delivery.Report{}, failure(report)
}

func (a *Attempter) deliver(ctx context.Context, next attempt) (delivery.Report, error) {
	if next.last == nil {
		next.last = next.delivery.Prior
		// The first try gives the wait into Temporal's hands, where GET sees it.
		if next.last != nil && activity.GetInfo(ctx).Attempt == 1 && next.last.Early(time.Now()) {
			return *next.last, nil
		}
	}
	// The first attempt at a receiver that is connected comes to its gateway a moment
	// early.
	if err := awaitNearly(ctx, next.delivery.Spec.RingsAt()); err != nil {
		return delivery.Report{}, err
	}
	if made := a.unrecorded(ctx, next); made != nil && made.Result != delivery.ResultRetry {
		return *made, nil
	}
	state, err := a.settledState(ctx, next.delivery)
	if err != nil {
		return next.postpone(ctx, err), nil
	}
	// A cancel or change that is durable by now comes before this attempt, even
	// if the workflow has not heard of it yet.
	if !state.Wanted {
		return delivery.Report{}, temporal.NewCanceledError()
	}
	if state.Last != nil {
		next.last = state.Last
	}
	stored := next.number() - 1 // by Temporal
	if made := a.unrecorded(ctx, next); made != nil {
		next.last = made
	}
	ctx, ended := underWatch(ctx, next.last)
	defer ended()
	config, err := a.configure(ctx, next.delivery.Spec)
	if err != nil {
		return next.postpone(ctx, err), nil
	}
	report, err := a.paced(ctx, config, next)
	if err == nil && report.Attempt == next.number() { // else nobody was called
		a.receipts.keep(deliveryOf(ctx), report.Behind(stored))
	}
	return report, err
}

// unrecorded is the report of the attempt that is to be made, or of one behind it, where
// this worker has made it already: its record was lost on the way to Temporal. nil for none.
func (a *Attempter) unrecorded(ctx context.Context, next attempt) *delivery.Report {
	made, ok := a.receipts.recall(deliveryOf(ctx))
	if !ok || made.Attempt < next.number() {
		return nil
	}
	if next.last != nil {
		made = made.Following(next.last.Attempts)
	}
	return &made
}

// deliveryOf names the paced delivery of a run among the receipts.
func deliveryOf(ctx context.Context) string { return runOf(ctx) + "/deliver" }

// recorded is the last report that Temporal keeps for the tries that follow,
// nil if there is none. It outlives a try whose worker died.
func recorded(ctx context.Context) *delivery.Report {
	var report delivery.Report
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &report) != nil || report.Result == "" {
		return nil
	}
	return &report
}

func (a *Attempter) settledState(ctx context.Context, delivery timer.Delivery) (timer.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.StateRetries)
	defer cancel()
	for {
		state, err := a.Runs.SettledState(ctx, delivery.Spec.Key, runOf(ctx))
		if err == nil || wire.CodeOf(err) == wire.NotFound {
			return state, err
		}
		select {
		case <-time.After(tuning.StateRetryPause):
		case <-ctx.Done():
			return state, err
		}
	}
}

// State says how a delivery stands, and until when it may go on under the
// policy as it is now.
func (a *Attempter) State(ctx context.Context, spec timer.Spec) (timer.RunState, error) {
	state, err := a.Runs.State(ctx, spec.Key, runOf(ctx))
	if err != nil {
		return timer.RunState{}, err
	}
	policy, err := a.Policies.Policy(ctx, spec.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return timer.RunState{}, err
	}
	state.Latest, state.PolicyVersion = spec.Latest(policy.ExpiresAfter), policy.Version
	return state, nil
}

// paced makes an attempt, or none where it comes too soon, or the type is held back
// or has got a policy, and with it a queue of its own.
func (a *Attempter) paced(ctx context.Context, config attemptConfig, next attempt) (delivery.Report, error) {
	now := time.Now()
	if early := next.delivery.Spec.RingsAt().Until(now); early > 0 { // the engine's clock is ahead
		return next.wait(config, early, ""), nil
	}
	// Temporal hands the last try's task out once more when its store had said that
	// it was not written.
	if last := next.last; last != nil && last.Early(now) {
		return next.wait(config, last.NextIn(now), last.Waits), nil
	}
	r := a.route(ctx, config, next.last)
	defer a.links.abandon(config, r)
	if queue := activity.GetInfo(ctx).TaskQueue; a.belongsElsewhere(config.by(r), queue) {
		return config.handOver(next, r), nil
	} else if report, drained := a.drain(config, next, r, queue); drained {
		return report, nil
	}
	if config.paused || config.policy.Paused { // it came before its queue was stopped
		return next.wait(config, tuning.EmergencyWait, ""), nil
	}
	// By the end of this wait the queue is stopped, and lets it go when the back-pressure
	// ends or is lifted.
	if until, held := config.policy.HeldBack(now); held {
		return next.wait(config, min(until.Until(now), tuning.BackPressureHeard), ""), nil
	}
	if config.policy.Version != 0 { // else the queue is everybody's, and has limits of its own
		leave, ok := a.Bulkhead.EnterQueue(ctx, config.policy.BusinessType, config.policy.Limits.InFlight)
		if !ok {
			return next.wait(config, tuning.FirstPostponed, delivery.WaitsForInFlight), nil
		}
		defer leave()
	}
	return a.call(ctx, config.within(ctx), next, r)
}

// belongsElsewhere is whether an attempt is made on another queue by now: the type has
// got a policy, or one that says in another way how its receivers are reached.
func (a *Attempter) belongsElsewhere(c attemptConfig, queue string) bool {
	if c.policy.Version == 0 && queue != a.Queue(c.policy, true) {
		return false // as it was scheduled under a policy that is gone
	}
	return queue != a.Queue(c.policy, c.callback.Stream)
}

// within is the configuration of an attempt that ends before its task does: one that
// outlasted it would leave no report, and count for nothing.
func (c attemptConfig) within(ctx context.Context) attemptConfig {
	end, _ := ctx.Deadline()
	left := max(wire.Duration(time.Until(end)-tuning.ReportSlack), wire.Duration(delivery.MinAttemptTimeout))
	c.callback.Timeout = min(c.callback.Timeout, left)
	if c.fallback != nil {
		second := *c.fallback
		second.Timeout = min(second.Timeout, left)
		c.fallback = &second
	}
	return c
}
