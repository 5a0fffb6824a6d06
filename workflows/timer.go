package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Timer is the life of one timer, from its booking to its end. It completes when delivered
// or expired, fails when the ladder is used up, and ends Canceled when cancelled. The
// id-reuse policy of the next booking depends on that status.
func Timer(ctx workflow.Context, spec timer.Spec, payload converter.RawValue) (timer.Outcome, error) {
	t := &timerRun{ctx: ctx, spec: spec.BeginRun(), payload: payload, changes: workflow.GetSignalChannel(ctx, SignalChange)}
	t.delivering = spec.Ongoing != nil
	return t.carryOut(t.run())
}

// timerRun is the state of one run of a timer.
type timerRun struct {
	// ctx is the context of the run's one coroutine. A cancel of the timer cancels it.
	ctx     workflow.Context
	spec    timer.Spec
	payload converter.RawValue
	changes workflow.ReceiveChannel
	// signals counts the changes that have arrived; pending are those still to be applied.
	signals int
	pending []timer.Change
	// receiptAsked reports whether the previous holder of the task was asked without
	// success, and unanswered how often it gave no answer.
	receiptAsked bool
	unanswered   timer.Unanswered
	// delivering reports whether the delivery of the current occurrence has begun.
	delivering bool
	// shown reports whether lists show this run as delivering.
	shown bool
	// maybeSent reports whether an attempt may have been made without a record.
	maybeSent bool
}

// run is a run from top to bottom: the report of an earlier task, the changes, is it due,
// ring, decide. The first task of a run checks everything, for two reasons: a change, an
// update and a cancel each end a start delay early, and the clock of the gateway that
// computed the delay may be off. Each step returns how the run ends.
func (t *timerRun) run() decision {
	t.drainSignals()
	if report, ok := t.earlierAttempt(); ok {
		return t.decide(report)
	}
	if t.delivering && t.spec.Ongoing.Result.Final() { // it failed before what arrived in this run
		return t.resume()
	}
	if t.interrupted() {
		return t.applyPending()
	}
	if t.delivering {
		return t.resume()
	}
	shown, now := t.spec.DueAt, workflow.Now(t.ctx)
	if !t.currentOccurrence(now) {
		return t.ended(timer.Outcome{Status: timer.Expired})
	}
	if !t.due(now) {
		return continued()
	}
	if t.spec.DueAt != shown {
		return t.ringInOwnRun()
	}
	return t.decide(t.ring())
}

// decide acts on the report of an attempt. A change or cancel that arrived during a failed
// attempt outweighs the failure: once accepted it holds, unless the receiver took the timer
// first. Changes are pending already where the report is that of an earlier task.
func (t *timerRun) decide(report delivery.Report) decision {
	switch {
	case report.Result == delivery.ResultDelivered, report.Result.Final() && !t.interrupted():
		return t.finish(report)
	case report.Result.Released():
		t.maybeSent = t.maybeSent || report.Worker != ""
		return t.release(report.Result)
	case report.Result.Final(), slices.ContainsFunc(t.pending, isChange):
		if report.Attempt > 0 {
			t.spec.Ongoing, t.delivering = &report, true
		}
		return t.applyPending()
	default:
		return t.deliver(report)
	}
}

// earlierAttempt is the report of an attempt by an earlier task of this run, if there is
// one. Temporal has no record of it if it refused that task's completion.
func (t *timerRun) earlierAttempt() (report delivery.Report, ok bool) {
	if t.spec.Ongoing != nil || !t.handedOutAgain() {
		return report, false
	}
	report, ok = (&receiptQuery{t}).find()
	t.maybeSent = !ok
	return report, ok
}

// resume continues the delivery that the previous run began.
func (t *timerRun) resume() decision {
	ongoing := *t.spec.Ongoing
	t.spec.Ongoing = nil
	return t.deliver(ongoing)
}

// currentOccurrence finds the occurrence for which a recurring timer rings, and reports
// whether there is one. The timer makes up for missed occurrences by its rule.
func (t *timerRun) currentOccurrence(now time.Time) (ok bool) {
	if t.spec.Series == nil || t.spec.Resting() {
		return true
	}
	t.spec.Memo, ok = t.spec.NextOccurrence(wire.At(now))
	return ok
}

// due reports whether it is time to ring, or near enough for a worker to preload the timer.
// A suspended timer is due at its latest time, and then calls no receiver.
func (t *timerRun) due(now time.Time) bool {
	if t.spec.Resting() {
		return t.spec.PastLatest(wire.At(now))
	}
	return t.spec.RingsAt().Until(now) <= max(t.spec.Lead(), tuning.NearlyDue)
}

// FirstTaskRings reports whether the first task of a run rings the timer, and makes no command
// before. began is when a worker got the task, which found no change and no cancel.
func FirstTaskRings(spec timer.Spec, began time.Time) bool {
	t := &timerRun{spec: spec.BeginRun()}
	return spec.Ongoing == nil && t.currentOccurrence(began) && t.due(began) && t.spec.DueAt == spec.DueAt
}

// ringInOwnRun makes an occurrence that makes up for others ring in a separate run. This
// run's memo describes the missed occurrence, and acknowledgements and redeliveries rely on
// it.
func (t *timerRun) ringInOwnRun() decision {
	t.spec.Memo = t.spec.ContinueCurrent()
	return continued()
}

// finish turns the last report into the timer's end, or into the next occurrence. A cancel
// during the delivery ends the whole chain. A change applies to later occurrences.
func (t *timerRun) finish(report delivery.Report) decision {
	outcome := outcomeOf(report)
	(&announcement{timerRun: t, report: report, outcome: outcome}).send()
	if t.spec.Series == nil {
		return t.ended(outcome)
	}
	if outcome.Stopped = report.Stop || t.spec.Series.Stopped; report.Stop {
		t.spec.Memo = t.spec.EndRule()
	}
	next, ok := t.spec.AfterOccurrence(t.spec.Key, outcome, max(t.now(), report.EndedAt))
	if !ok {
		return t.ended(outcome)
	}
	if t.ctx.Err() != nil { // no later run records the occurrence
		t.delivering = false
		return t.cancelledAfter(outcome)
	}
	t.spec.Memo, t.delivering, t.maybeSent = next, false, false
	t.drainSignals()
	return t.applyPending()
}

func (t *timerRun) now() wire.Instant { return wire.At(workflow.Now(t.ctx)) }
