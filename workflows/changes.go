package workflows

import (
	"google.golang.org/protobuf/proto"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// drainSignals takes the changes that have arrived. They are applied once nothing is under
// way: a delivery ends with the content it began with.
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

// isChange reports whether a signal is more than a wakeup.
func isChange(signal timer.Change) bool { return !signal.Wake }

// interrupted reports whether a change or a cancel has arrived.
func (t *timerRun) interrupted() bool {
	t.drainSignals()
	return len(t.pending) > 0 || t.ctx.Err() != nil
}

// applyPending ends the run for what interrupted it. A cancel outweighs every change, even
// an earlier one.
func (t *timerRun) applyPending() decision {
	if t.ctx.Err() != nil {
		return t.cancelled()
	}
	var refused []timer.Refusal
	for _, change := range t.pending {
		if err := t.apply(change); err != nil {
			refused = append(refused, timer.RefusalOf(change, err))
		}
	}
	if t.delivering && t.spec.Series != nil {
		t.spec.Memo = t.spec.ContinueCurrent()
	}
	t.spec.Memo, t.pending = t.spec.Refuse(refused), nil
	return continued()
}

// apply makes one change. A delivery under way goes on with its attempts and its wait,
// unless the change makes the timer ring for another occurrence or content. A change that an
// earlier run has applied is the repetition of a call whose answer was lost.
func (t *timerRun) apply(change timer.Change) error {
	if t.spec.Applied.Has(change.ID) {
		return nil
	}
	if change.Interrupts = t.delivering; t.delivering && t.spec.Ongoing != nil {
		change.Made = *t.spec.Ongoing
	}
	changed, err := t.spec.Apply(change)
	if err != nil {
		return err
	}
	if t.delivering && (change.Ring && changed.Series == nil || !t.spec.SameOccurrence(changed.Memo)) {
		changed, t.delivering = changed.AnotherRound(t.spec), false
	}
	before := t.spec
	t.spec = changed
	if change.Terms.Payload != nil || change.Replace {
		t.replacePayload(before, change)
	}
	return nil
}

// replacePayload takes the body of a change. A body that differs from a possibly sent one
// gets a new webhook id. An acceptance of the old body does not count for it.
func (t *timerRun) replacePayload(before timer.Spec, change timer.Change) {
	payload := Encode(change.Terms.Payload)
	//workflowcheck:ignore It compares values, and nothing else.
	if proto.Equal(payload.Payload(), t.payload.Payload()) && before.ContentType == t.spec.ContentType {
		return
	}
	t.payload = payload
	if !change.Interrupts && !t.maybeSent && before.Round == 0 && (before.Series == nil || !before.Series.Resumed) {
		return
	}
	t.spec.Content = t.spec.Revision
	if ongoing := t.spec.Ongoing; ongoing != nil && ongoing.Result == delivery.ResultAccepted {
		t.spec, t.delivering = t.spec.AnotherRound(t.spec), false
	}
}
