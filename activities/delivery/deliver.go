package delivery

import (
	"context"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Deliver makes the next attempt. Its error carries the wait until the one after it. Its
// result is not final when the delivery belongs on another queue.
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
// wanted, its settings, the call.
func (t *try) run(ctx context.Context) (delivery.Report, error) {
	if t.last == nil {
		t.last = t.delivery.Prior
		// The first try hands the wait to Temporal, where GET shows it.
		if t.last != nil && activity.GetInfo(ctx).Attempt == 1 && t.last.Early(time.Now()) {
			return *t.last, nil
		}
	}
	// The first attempt at a connected receiver reaches its gateway a moment early.
	if err := awaitNearly(ctx, t.delivery.Spec.RingsAt()); err != nil {
		return delivery.Report{}, err
	}
	if made := t.unrecorded(ctx); made != nil && made.Result != delivery.ResultRetry {
		return *made, nil
	}
	state, err := t.confirm(ctx)
	if temporal.IsCanceledError(err) {
		return delivery.Report{}, err
	}
	if err != nil {
		return t.postponedReport(ctx, err), nil
	}
	if state.Last != nil {
		t.last = state.Last
	}
	return t.makeNext(ctx)
}

// confirm asks how the delivery stands. The error is a cancel where this try must make no call.
// A cancel or change that is durable now precedes this attempt, even if the workflow has not
// seen it yet. A worker that stood still may find that another one has the next try.
func (t *try) confirm(ctx context.Context) (timer.RunState, error) {
	t.askedAt = time.Now()
	state, err := t.awaitState(ctx)
	t.answeredAt = time.Now()
	if err == nil && (!state.Wanted || state.Try > int(activity.GetInfo(ctx).Attempt)) {
		err = temporal.NewCanceledError()
	}
	return state, err
}

// makeNext makes the attempt after the last one, and keeps its report until Temporal has
// recorded it.
func (t *try) makeNext(ctx context.Context) (delivery.Report, error) {
	stored := t.number() - 1 // by Temporal
	if made := t.unrecorded(ctx); made != nil {
		t.last = made
	}
	ctx, ended := withHeartbeat(ctx, t.last)
	defer ended()
	var err error
	if t.settings, err = t.configure(ctx, t.delivery.Spec); err != nil {
		return t.postponedReport(ctx, err), nil
	}
	report, err := t.runPaced(ctx)
	if err == nil && report.Attempt == t.number() { // else no receiver was called
		name := finalReceipt(ctx)
		if report.Result == delivery.ResultRetry {
			name = retryReceipt(t.delivery.Spec)
		}
		t.receipts.Put(name, report.WithoutRecords(stored))
	}
	return report, err
}

// unrecorded is the report of the next attempt or a later one, if this worker has made it
// already and the record was lost on its way to Temporal. nil for none.
func (t *try) unrecorded(ctx context.Context) *delivery.Report {
	for _, name := range []string{finalReceipt(ctx), retryReceipt(t.delivery.Spec)} {
		made, ok := t.receipts.Get(name)
		if !ok || made.Attempt < t.number() {
			continue
		}
		if t.last != nil {
			made = made.Following(t.last.Attempts)
		}
		return &made
	}
	return nil
}

// awaitState is [Runs.AwaitState]. It asks again while Temporal does not answer.
func (t *try) awaitState(ctx context.Context) (timer.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.StateRetries)
	defer cancel()
	for {
		state, err := t.Runs.AwaitState(ctx, t.delivery.Spec.Key, runOf(ctx))
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

// runPaced makes the attempt. It makes none if the try comes too soon, if the type is held
// back, or if the type now has a policy and with it a separate queue.
func (t *try) runPaced(ctx context.Context) (delivery.Report, error) {
	now := time.Now()
	if early := t.delivery.Spec.RingsAt().Until(now); early > 0 { // the engine's clock is ahead
		return t.waitReport(early, ""), nil
	}
	// Temporal hands the last try's task out again after its store reported a failed write.
	if last := t.last; last != nil && last.Early(now) {
		return t.waitReport(last.NextIn(now), last.Waits), nil
	}
	t.route = t.chooseRoute(ctx)
	defer t.links.release(t.settings, t.route)
	if report, elsewhere := t.elsewhere(activity.GetInfo(ctx).TaskQueue); elsewhere {
		return report, nil
	}
	if t.paused || t.policy.Paused { // it came before its queue was stopped
		return t.waitReport(tuning.EmergencyWait, ""), nil
	}
	// By the end of this wait the queue is stopped. It releases the attempt when the
	// back-pressure ends or is lifted.
	if until, held := t.policy.HeldBack(now); held {
		return t.waitReport(min(until.Until(now), tuning.BackPressureHeard), ""), nil
	}
	if t.policy.Version != 0 { // else it is the shared queue, which has other limits
		leave, ok := t.Bulkhead.EnterQueue(ctx, t.policy.BusinessType, t.policy.Limits.InFlight)
		if !ok {
			return t.waitReport(tuning.FirstPostponed, delivery.WaitsForInFlight), nil
		}
		defer leave()
	}
	t.settings = t.withDeadline(ctx)
	return t.callConfirmed(ctx)
}

// callConfirmed calls the receiver if this try is still wanted, and this worker's. It asks again if the answer is
// old: Temporal may have taken long to tell the settings.
func (t *try) callConfirmed(ctx context.Context) (delivery.Report, error) {
	if time.Since(t.answeredAt) > tuning.ConfirmedFor || t.Failover.CutOff(t.askedAt) {
		if _, err := t.confirm(ctx); temporal.IsCanceledError(err) {
			return delivery.Report{}, err
		} else if err != nil {
			return t.postponedReport(ctx, err), nil
		}
	}
	return t.call(ctx)
}

// elsewhere is the report of an attempt that now belongs on another queue: the type has got
// a policy, or a policy that reaches its receivers in another way. A worker may have taken
// it from the queue of a stream that is one of two links. It then returns it with a bound on
// its wait, or, if it has a bound, for a moment.
func (t *try) elsewhere(queue string) (report delivery.Report, ok bool) {
	stream := t.withRoute(t.route).callback.Stream
	switch {
	case t.belongsElsewhere(stream, queue):
		return handover{t.attempt, t.route}.report(), true
	case t.Polled == nil || t.fallback == nil || !stream || queue != t.Queue(t.policy, true):
		return delivery.Report{}, false
	case t.route.handed:
		return t.waitReport(tuning.DrainedWait, ""), true
	default:
		return handover{t.attempt, t.route}.report(), true
	}
}

func (t *try) belongsElsewhere(stream bool, queue string) bool {
	if t.policy.Version == 0 && queue != t.Queue(t.policy, true) {
		return false // it was scheduled under an earlier policy
	}
	return queue != t.Queue(t.policy, stream)
}

// State returns how a delivery stands, and until when it may go on under the present policy.
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

// heartbeatReport is the last report that Temporal holds for the next tries, nil if there is
// none. It outlives a try whose worker died.
func heartbeatReport(ctx context.Context) *delivery.Report {
	var report delivery.Report
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &report) != nil || report.Result == "" {
		return nil
	}
	return &report
}

// finalReceipt names the receipt of a run's last attempt on the queue. The next run makes no
// use of it: the change that ended this run may have extended the ladder.
func finalReceipt(ctx context.Context) string { return runOf(ctx) + "/deliver" }

// retryReceipt names the receipt of a delivery's last attempt that another one follows. The
// run after a change needs it too: Temporal forgets the failure of an attempt that ends just
// before the attempts are cancelled.
func retryReceipt(spec timer.Spec) string {
	spec.Content = 0 // the change may bring another body, and the attempts are still counted
	return spec.WebhookID() + "/" + strconv.Itoa(spec.Round)
}

// awaitNearly waits for a timer that is almost due.
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
