package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// awaitAcknowledgement waits until the receiver of an attempt that it accepted says what
// became of it, or its time is up. Temporal holds the wait: a timer, and nothing else. A
// change or a cancel ends it, because nothing is in flight. Its error is that of a cancel.
func (d *delivery) awaitAcknowledgement(ctx workflow.Context) error {
	d.makeFindable(ctx)
	d.showAcceptance(ctx)
	within, stop := workflow.WithCancel(ctx)
	timeUp := workflow.NewTimerWithOptions(within, max(d.last.AckUntil.Until(workflow.Now(ctx)), 0),
		workflow.TimerOptions{Summary: "the time to acknowledge"})
	for d.last.Result == timer.ResultAccepted && len(d.pending) == 0 && ctx.Err() == nil {
		d.awaitWord(ctx, timeUp)
	}
	if !d.last.Result.Final() { // else the timer ends with the run
		stop()
	}
	return ctx.Err()
}

// awaitWord waits for the receiver, for the end of its time, and for what may come between.
func (d *delivery) awaitWord(ctx workflow.Context, timeUp workflow.Future) {
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(workflow.GetSignalChannel(ctx, SignalAcknowledge), func(words workflow.ReceiveChannel, _ bool) {
		d.hearReceiver(ctx, words)
	})
	selector.AddReceive(d.changes, func(workflow.ReceiveChannel, bool) {})
	selector.AddFuture(timeUp, func(workflow.Future) {})
	selector.Select(ctx)
	// Who wakes a timer may know that Temporal has lost it.
	now, woken := workflow.Now(ctx), d.hearOut()
	if timeIsUp := timeUp.IsReady() || (woken && d.last.AckUntil.Until(now) <= 0); timeIsUp &&
		d.last.Result == timer.ResultAccepted && len(d.pending) == 0 && ctx.Err() == nil {
		d.last = d.last.Unacknowledged(timer.At(now))
		d.showAcceptance(ctx)
	}
}

// hearReceiver takes what the receiver has said. Word of an attempt before this one has
// come too late, and a cancel outweighs every word.
func (d *delivery) hearReceiver(ctx workflow.Context, words workflow.ReceiveChannel) {
	var word timer.Acknowledgement
	for words.ReceiveAsync(&word) {
		if ctx.Err() == nil && d.last.Answers(word, d.spec) {
			d.last = d.last.Acknowledged(word, timer.At(workflow.Now(ctx)))
			d.showAcceptance(ctx)
		}
		word = timer.Acknowledgement{}
	}
}

// showAcceptance makes the memo tell of the attempt that was accepted.
func (d *delivery) showAcceptance(ctx workflow.Context) {
	_ = workflow.UpsertMemo(ctx, map[string]any{MemoAcceptance: d.last.Acceptance()}) // it can always be encoded
}

// makeFindable lets the delivery be found by its webhook id.
func (d *delivery) makeFindable(ctx workflow.Context) {
	if !d.findable {
		_ = workflow.UpsertTypedSearchAttributes(ctx, AttrWebhookID.ValueSet(d.spec.WebhookID()))
	}
	d.findable = true
}
