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
	t := &try{Attempter: a, attempt: attempt{delivery: d, payload: payload, last: heartbeatReport(ctx)}}
	report, err := t.run(ctx)
	switch {
	case err != nil:
		return delivery.Report{}, err
	case report.Result == delivery.ResultDelivered || report.Result == delivery.ResultAccepted || report.Result == delivery.ResultUseQueue:
		return report, nil
	default:
		return delivery.Report{}, retryError(report)
	}
}

// run makes the attempt of a try on the queue: was it made already, is it due, is it still
// wanted, what does it go by, call.
func (t *try) run(ctx context.Context) (delivery.Report, error) {
	if t.last == nil {
		t.last = t.delivery.Prior
		// The first try gives the wait into Temporal's hands, where GET sees it.
		if t.last != nil && activity.GetInfo(ctx).Attempt == 1 && t.last.Early(time.Now()) {
			return *t.last, nil
		}
	}
	// The first attempt at a receiver that is connected comes to its gateway a moment
	// early.
	if err := awaitNearly(ctx, t.delivery.Spec.RingsAt()); err != nil {
		return delivery.Report{}, err
	}
	if made := t.unrecorded(ctx); made != nil && made.Result != delivery.ResultRetry {
		return *made, nil
	}
	state, err := t.settledState(ctx)
	if err != nil {
		return t.postpone(ctx, err), nil
	}
	// A cancel or change that is durable by now comes before this attempt, even
	// if the workflow has not heard of it yet.
	if !state.Wanted {
		return delivery.Report{}, temporal.NewCanceledError()
	}
	if state.Last != nil {
		t.last = state.Last
	}
	return t.makeNext(ctx)
}

// makeNext makes the attempt that follows the last one, and remembers its report until
// Temporal has recorded it.
func (t *try) makeNext(ctx context.Context) (delivery.Report, error) {
	stored := t.number() - 1 // by Temporal
	if made := t.unrecorded(ctx); made != nil {
		t.last = made
	}
	ctx, ended := withHeartbeat(ctx, t.last)
	defer ended()
	var err error
	if t.settings, err = t.configure(ctx, t.delivery.Spec); err != nil {
		return t.postpone(ctx, err), nil
	}
	report, err := t.paced(ctx)
	if err == nil && report.Attempt == t.number() { // else no receiver was called
		t.receipts.Put(receiptName(ctx), report.Behind(stored))
	}
	return report, err
}

// unrecorded is the report of the attempt that is to be made, or of one behind it, where
// this worker has made it already: its record was lost on the way to Temporal. nil for none.
func (t *try) unrecorded(ctx context.Context) *delivery.Report {
	made, ok := t.receipts.Get(receiptName(ctx))
	if !ok || made.Attempt < t.number() {
		return nil
	}
	if t.last != nil {
		made = made.Following(t.last.Attempts)
	}
	return &made
}

// settledState is how the delivery stands. It asks again while Temporal does not answer.
func (t *try) settledState(ctx context.Context) (timer.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.StateRetries)
	defer cancel()
	for {
		state, err := t.Runs.SettledState(ctx, t.delivery.Spec.Key, runOf(ctx))
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

// paced makes the attempt, or none where it comes too soon, or the type is held back
// or has got a policy, and with it a queue of its own.
func (t *try) paced(ctx context.Context) (delivery.Report, error) {
	now := time.Now()
	if early := t.delivery.Spec.RingsAt().Until(now); early > 0 { // the engine's clock is ahead
		return t.wait(early, ""), nil
	}
	// Temporal hands the last try's task out once more when its store had said that
	// it was not written.
	if last := t.last; last != nil && last.Early(now) {
		return t.wait(last.NextIn(now), last.Waits), nil
	}
	t.route = t.chooseRoute(ctx)
	defer t.links.release(t.settings, t.route)
	if report, elsewhere := t.elsewhere(activity.GetInfo(ctx).TaskQueue); elsewhere {
		return report, nil
	}
	if t.paused || t.policy.Paused { // it came before its queue was stopped
		return t.wait(tuning.EmergencyWait, ""), nil
	}
	// By the end of this wait the queue is stopped, and lets it go when the back-pressure
	// ends or is lifted.
	if until, held := t.policy.HeldBack(now); held {
		return t.wait(min(until.Until(now), tuning.BackPressureHeard), ""), nil
	}
	if t.policy.Version != 0 { // else the queue is everybody's, and has limits of its own
		leave, ok := t.Bulkhead.EnterQueue(ctx, t.policy.BusinessType, t.policy.Limits.InFlight)
		if !ok {
			return t.wait(tuning.FirstPostponed, delivery.WaitsForInFlight), nil
		}
		defer leave()
	}
	t.settings = t.within(ctx)
	return t.call(ctx)
}

// elsewhere is the report of an attempt that is made on another queue by now: the type has
// got a policy, or one that says in another way how its receivers are reached. A worker that
// took it from the queue of a stream which is one of two links gives it back with a bound on
// its wait, or, where it has one, for a moment.
func (t *try) elsewhere(queue string) (report delivery.Report, ok bool) {
	stream := t.along(t.route).callback.Stream
	switch {
	case t.belongsElsewhere(stream, queue):
		return handover{t.attempt, t.route}.report(), true
	case t.Polled == nil || t.fallback == nil || !stream || queue != t.Queue(t.policy, true):
		return delivery.Report{}, false
	case t.route.handed:
		return t.wait(tuning.DrainedWait, ""), true
	default:
		return handover{t.attempt, t.route}.report(), true
	}
}

func (t *try) belongsElsewhere(stream bool, queue string) bool {
	if t.policy.Version == 0 && queue != t.Queue(t.policy, true) {
		return false // as it was scheduled under a policy that is gone
	}
	return queue != t.Queue(t.policy, stream)
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

// heartbeatReport is the last report that Temporal holds for the tries that follow, nil if
// there is none. It outlives a try whose worker died.
func heartbeatReport(ctx context.Context) *delivery.Report {
	var report delivery.Report
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &report) != nil || report.Result == "" {
		return nil
	}
	return &report
}

// receiptName names the delivery of a run on the queue among the receipts.
func receiptName(ctx context.Context) string { return runOf(ctx) + "/deliver" }

// awaitNearly waits for a timer that is all but due.
func awaitNearly(ctx context.Context, due wire.Instant) error {
	early := due.Until(time.Now())
	if early <= 0 || early > tuning.StreamLead {
		return nil
	}
	select {
	case <-time.After(early):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
