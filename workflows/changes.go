package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// drainSignals takes the changes that have arrived. They are applied when nothing
// is under way any more: a delivery ends as what it began as.
func (t *timerRun) drainSignals() {
	var change timer.Change
	for t.changes.ReceiveAsync(&change) {
		t.signals++
		if change.Booking == "" || change.Booking != t.spec.Booking { // else it booked the timer
			t.pending = append(t.pending, change)
		}
		change = timer.Change{}
	}
}

// interrupted is whether a change or a cancel has arrived.
func (t *timerRun) interrupted(ctx workflow.Context) bool {
	t.drainSignals()
	return len(t.pending) > 0 || ctx.Err() != nil
}

// applyPending ends the run for what interrupted it. A cancel outweighs every
// change, whatever came first.
func (t *timerRun) applyPending(ctx workflow.Context) decision {
	if ctx.Err() != nil && !t.onlyCalledOff(ctx) {
		return cancelled()
	}
	var refused []timer.Refusal
	for _, change := range t.pending {
		change.Interrupts = t.delivering
		spec, err := t.spec.Apply(change)
		if err != nil {
			refused = append(refused, timer.RefusalOf(change, err))
			continue
		}
		t.spec = spec
		t.delivering = t.delivering && change.Wake
		if change.Terms.Payload != nil || change.Replace {
			t.payload = Encode(change.Terms.Payload)
		}
	}
	t.spec.Memo, t.pending = t.spec.Refuse(refused), nil
	return goOn()
}

// onlyCalledOff is whether the cancel was an older gateway's way to tell a worker
// of a change. It asks until it is told: a run that took a change for a cancel
// would lose its timer.
func (t *timerRun) onlyCalledOff(ctx workflow.Context) (only bool) {
	if len(t.pending) == 0 {
		return false
	}
	ctx, release := workflow.NewDisconnectedContext(ctx)
	defer release()
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.QuestionTimeout, ScheduleToCloseTimeout: timer.MaxAhead,
		RetryPolicy: &temporal.RetryPolicy{MaximumInterval: tuning.QuestionPause},
	})
	var cause string
	err := workflow.ExecuteLocalActivity(ctx, ActivityCause).Get(ctx, &cause)
	return err == nil && cause == CauseChange
}
