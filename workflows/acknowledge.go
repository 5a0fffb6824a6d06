package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// awaitAcknowledgement waits until the receiver acknowledges the attempt it accepted, or
// until its time is up. Temporal holds the wait as one timer. A change or a cancel ends it,
// because nothing is in flight. A cancel is its only error.
func (d *deliveryRun) awaitAcknowledgement() error {
	d.indexWebhookID()
	d.upsertAcceptance()
	within, stop := workflow.WithCancel(d.ctx)
	timeUp := workflow.NewTimerWithOptions(within, max(d.last.AckUntil.Until(workflow.Now(d.ctx)), 0),
		workflow.TimerOptions{Summary: "the time to acknowledge"})
	for d.awaitsAcknowledgement() {
		d.selectAcknowledgement(timeUp)
	}
	if !d.last.Result.Final() { // else the timer ends with the run
		stop()
	}
	return d.ctx.Err()
}

// selectAcknowledgement waits for an acknowledgement, the end of the time, or an event in
// between.
func (d *deliveryRun) selectAcknowledgement(timeUp workflow.Future) {
	selector := workflow.NewSelector(d.ctx)
	selector.AddReceive(workflow.GetSignalChannel(d.ctx, SignalAcknowledge), func(acknowledgements workflow.ReceiveChannel, _ bool) {
		d.drainAcknowledgements(acknowledgements)
	})
	selector.AddReceive(d.changes, func(workflow.ReceiveChannel, bool) {})
	selector.AddFuture(timeUp, func(workflow.Future) {})
	selector.Select(d.ctx)
	now, woken := workflow.Now(d.ctx), d.drainSignals()
	late := timeUp.IsReady() || woken && d.last.AckUntil.Until(now) <= 0 // a wakeup may mean that Temporal has lost the timer
	if late && d.awaitsAcknowledgement() {
		d.last = d.last.Unacknowledged(wire.At(now))
		d.upsertAcceptance()
	}
}

// awaitsAcknowledgement reports whether nothing has ended the wait of an accepted attempt.
func (d *deliveryRun) awaitsAcknowledgement() bool {
	return d.last.Result == delivery.ResultAccepted && len(d.pending) == 0 && d.ctx.Err() == nil
}

// drainAcknowledgements applies the acknowledgements that have arrived. One of an earlier
// attempt is too late, and a cancel outweighs them all.
func (d *deliveryRun) drainAcknowledgements(acknowledgements workflow.ReceiveChannel) {
	var next delivery.Acknowledgement
	for acknowledgements.ReceiveAsync(&next) {
		if d.ctx.Err() == nil && d.last.Answers(next, d.spec.WebhookID(), d.spec.Round) {
			d.last = d.last.Acknowledged(next, wire.At(workflow.Now(d.ctx)))
			d.upsertAcceptance()
		}
		next = delivery.Acknowledgement{}
	}
}

// upsertAcceptance stores the accepted attempt in the memo.
func (d *deliveryRun) upsertAcceptance() {
	_ = workflow.UpsertMemo(d.ctx, map[string]any{MemoAcceptance: d.last.Acceptance()}) // it can always be encoded
}

// indexWebhookID makes visibility find the delivery by its webhook id.
func (d *deliveryRun) indexWebhookID() {
	if !d.indexed {
		_ = workflow.UpsertTypedSearchAttributes(d.ctx, AttrWebhookID.ValueSet(d.spec.WebhookID()))
	}
	d.indexed = true
}
