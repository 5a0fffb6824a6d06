package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Timer is the life of one timer, from its booking to its end. It completes
// when delivered or expired, fails when the ladder is used up, and ends
// Canceled when cancelled: that is what the id-reuse policy of the next
// booking goes by.
func Timer(ctx workflow.Context, spec timer.Spec, payload converter.RawValue) (timer.Outcome, error) {
	run := &timerRun{spec: spec, payload: payload, changes: workflow.GetSignalChannel(ctx, SignalChange)}
	run.spec.Memo, run.delivering = spec.Begin(), spec.Standing != nil
	return run.carryOut(ctx, run.run(ctx))
}

// timerRun is the state of one run of a timer.
type timerRun struct {
	spec    timer.Spec
	payload converter.RawValue
	changes workflow.ReceiveChannel
	// signals counts what has arrived; pending is what of it has still to be
	// applied.
	signals int
	pending []timer.Change
	// receiptAsked reports whether a worker that had the task before was asked in vain.
	receiptAsked bool
	// delivering reports whether the delivery of the present occurrence has begun, and maySent
	// whether an attempt of it may have been made that nobody knows of.
	delivering, maybeSent bool
}

// run re-checks everything on the run's first task: a change, an update and a
// cancel each end a start delay early, and the clock of the gateway that
// computed the delay may be off. Each step returns how the run ends.
func (t *timerRun) run(ctx workflow.Context) decision {
	t.drainSignals()
	if t.spec.Standing == nil && t.handedOutAgain(ctx) {
		if report, ok := t.receipt(ctx); ok {
			return t.handleReport(ctx, report)
		}
		t.maybeSent = true
	}
	if t.interrupted(ctx) {
		return t.applyPending(ctx)
	}
	if standing := t.spec.Standing; standing != nil {
		t.spec.Standing = nil
		return t.deliver(ctx, *standing)
	}
	shown := t.spec.DueAt
	if !t.currentOccurrence(ctx) {
		return ended(timer.Outcome{Status: timer.Expired})
	}
	if !t.due(ctx) || (t.spec.DueAt != shown && t.ringInOwnRun(ctx)) {
		return continued()
	}
	return t.handleReport(ctx, t.firstAttempt(ctx))
}

// currentOccurrence finds which occurrence a recurring timer rings for: one that overslept
// makes up for what it missed as its rule says. It reports whether there is one.
func (t *timerRun) currentOccurrence(ctx workflow.Context) (ok bool) {
	if t.spec.Series == nil || t.spec.Resting() {
		return true
	}
	t.spec.Memo, ok = t.spec.Seek(wire.At(workflow.Now(ctx)))
	return ok
}

// versionMadeUp marks runs that ended for an occurrence which makes up for others. It is
// stored.
const versionMadeUp = "made-up"

// ringInOwnRun has an occurrence that makes up for others ring in a run of its own: what this
// one says of itself, to whoever acknowledges or redelivers the occurrence, is of the one
// that was missed.
func (t *timerRun) ringInOwnRun(ctx workflow.Context) bool {
	if workflow.GetVersion(ctx, versionMadeUp, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false
	}
	t.spec.Memo = t.spec.KeepCurrent()
	return true
}

// due reports whether it is time to ring, or so nearly that a worker shall preload
// the timer. One that rests is due when its latest time has passed: nobody is called then.
func (t *timerRun) due(ctx workflow.Context) bool {
	if t.spec.Resting() {
		return t.spec.Lapsed(wire.At(workflow.Now(ctx)))
	}
	return t.spec.RingsAt().Until(workflow.Now(ctx)) <= max(t.spec.Lead(), tuning.NearlyDue)
}

// handleReport does what the report of an attempt asks for.
func (t *timerRun) handleReport(ctx workflow.Context, report delivery.Report) decision {
	switch {
	case report.Result.Final():
		return t.finish(ctx, report)
	case report.Result.Released():
		return t.release(ctx, report.Result)
	default:
		return t.deliver(ctx, report)
	}
}

// finish turns the last report into the timer's end, or into the next
// occurrence. A cancel that came during the delivery ends the whole chain, and a
// change applies to what is ahead.
func (t *timerRun) finish(ctx workflow.Context, report delivery.Report) decision {
	outcome := outcomeOf(report)
	switch outcome.Status {
	case timer.Expired:
		t.alertFailure(ctx, report, timer.EventExpired)
	case timer.Failed:
		t.alertFailure(ctx, report, timer.EventFailed)
	default:
	}
	t.notifyOutcome(ctx, report, outcome)
	if t.spec.Series == nil {
		return ended(outcome)
	}
	if outcome.Stopped = report.Stop || t.spec.Series.Stopped; report.Stop {
		t.spec.Memo = t.spec.Stop()
	}
	next, ok := t.spec.After(t.spec.Key, outcome, max(wire.At(workflow.Now(ctx)), report.EndedAt))
	if !ok {
		return ended(outcome)
	}
	t.spec.Memo, t.delivering, t.maybeSent = next, false, false
	t.drainSignals()
	return t.applyPending(ctx)
}

func outcomeOf(report delivery.Report) timer.Outcome {
	outcome := timer.Outcome{
		Status: timer.Failed, Attempts: report.Attempt, LatenessMS: report.LatenessMS, LastFailure: report.Failure,
		PolicyVersion: report.PolicyVersion, Link: report.Link,
	}
	switch report.Result {
	case delivery.ResultDelivered:
		outcome.Status, outcome.DeliveredAt = timer.Delivered, report.EndedAt
	case delivery.ResultExpired:
		outcome.Status = timer.Expired
	default:
	}
	return outcome
}

// alertFailure raises an event for a delivery that ended badly.
func (t *timerRun) alertFailure(ctx workflow.Context, report delivery.Report, event timer.EventType) {
	if report.Alert {
		startAlert(ctx, t.event(ctx, report, event), workflow.GetInfo(ctx).WorkflowExecution.RunID)
	}
}

// notifyOutcome tells whoever asked for it how the delivery ended.
func (t *timerRun) notifyOutcome(ctx workflow.Context, report delivery.Report, outcome timer.Outcome) {
	kind, asked, own := timer.EventFailed, report.OnFailed, t.spec.OnFailed
	switch outcome.Status {
	case timer.Delivered:
		kind, asked, own = timer.EventDelivered, report.OnDelivered, t.spec.OnDelivered
	case timer.Expired:
		kind = timer.EventExpired
	default:
	}
	if !asked && own == nil {
		return
	}
	event := t.event(ctx, report, kind)
	event.Outcome, event.Data.DeliveredAt, event.Data.LatenessMS = true, outcome.DeliveredAt, outcome.LatenessMS
	if own != nil {
		event.Own = &own.Destination
	}
	startAlert(ctx, event, "outcome:"+workflow.GetInfo(ctx).WorkflowExecution.RunID)
}

func (t *timerRun) event(ctx workflow.Context, report delivery.Report, kind timer.EventType) timer.Event {
	return timer.Event{Type: kind, At: wire.At(workflow.Now(ctx)), Data: timer.EventData{
		BusinessType: t.spec.BusinessType, BusinessID: t.spec.BusinessID, DueAt: t.spec.DueAt,
		Attempts: report.Attempt, WebhookID: t.spec.WebhookID(), LastFailure: report.Failure,
	}}
}
