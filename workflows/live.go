package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// delivery is one that is under way under [BehaviourLiveRetries].
type liveDelivery struct {
	*timerRun
	// last is what is known of it so far.
	last delivery.Report
	// expiry is ready at the latest time, as far as it is known, and answer when it
	// is known how the delivery stands. Nil for none.
	expiry, runState workflow.Future
	// failedQueries counts the questions in a row that nobody could answer.
	failedQueries int
	// stalled reports whether nothing is under way for it, as somebody thinks who woke it.
	stalled bool
	// expired and resumed are why its tries were called off, if they were.
	expired, resumed bool
	// streamWatch is ready when nobody takes anything any more from the stream at which the tries
	// wait, which are called off then: deserted. Nil for none.
	streamWatch    workflow.Future
	streamDown     bool
	cancelAttempts workflow.CancelFunc
	// handedAt is when the tries were handed over that wait for a receiver, and waitsUntil
	// for how long they do.
	handedAt   wire.Instant
	waitsUntil time.Time
	// indexed reports whether the delivery can be found by its webhook id.
	indexed bool
}

// deliverLive leaves the attempts that remain to the server, which holds each
// backoff, and waits for the last of them, for the latest time, or for an
// interruption. first is what is known of the delivery so far.
func (t *timerRun) deliverLive(ctx workflow.Context, first delivery.Report) decision {
	d := &liveDelivery{timerRun: t, last: first}
	if own := t.spec.Latest(0); own != 0 { // the timer's own may have changed since
		d.last.Latest = own
	}
	d.awaitExpiry(ctx)
	for !d.last.Result.Final() {
		err := d.advance(ctx)
		d.drainSignals()
		if d.last.Result == delivery.ResultAccepted { // the run that follows does not hear what came to this one
			d.drainAcknowledgements(ctx, workflow.GetSignalChannel(ctx, SignalAcknowledge))
		}
		switch {
		case d.last.Result == delivery.ResultDelivered:
		case t.interrupted(ctx):
			t.spec.Standing = d.standing()
			return t.applyPending(ctx)
		case d.last.Result.Final() || d.last.Result == delivery.ResultAccepted || d.resumed || d.streamDown:
		case d.expired:
			d.last.Result = delivery.ResultExpired
		case failedWithoutReport(err):
			workflow.GetLogger(ctx).Warn("A delivery ended without a report", "error", err)
			d.last.Result, d.last.Failure = delivery.ResultFailed, delivery.DeliveryBroken.Failure(0)
		}
	}
	return t.finish(ctx, d.last)
}

// standing is what the next run has to know of the delivery; nil where no attempt was made.
func (d *liveDelivery) standing() *delivery.Report {
	if d.last.Attempt == 0 && d.last.Handed == nil {
		return nil
	}
	return &d.last
}

// advance brings the delivery on: by the tries that the server makes, or, of an attempt
// that was accepted, by what its receiver says.
func (d *liveDelivery) advance(ctx workflow.Context) error {
	if d.last.Result == delivery.ResultAccepted {
		return d.awaitAcknowledgement(ctx)
	}
	return d.makeAttempts(ctx)
}

// failedWithoutReport reports whether an error ends a delivery that was not called off and left no
// report. A timeout does not: the next tries go on where it was.
func failedWithoutReport(err error) bool {
	if _, ok := reportIn(err); ok || err == nil {
		return false
	}
	_, late := errors.AsType[*temporal.TimeoutError](err)
	return !late
}

// makeAttempts leaves the attempts to the server until the last of them, or until they
// are called off. It waits for an attempt in flight to end: what began in time
// counts.
func (d *liveDelivery) makeAttempts(ctx workflow.Context) error {
	tries, callOff := workflow.WithCancel(workflow.WithActivityOptions(ctx, d.options(workflow.Now(ctx))))
	defer callOff()
	d.cancelAttempts, d.resumed, d.streamDown = callOff, false, false
	d.watchStream(tries)
	handed := d.last.Handed
	next := timer.Resume(d.spec, d.last)
	next.Live = true
	future := workflow.ExecuteActivity(tries, ActivityDeliver, next, d.payload)
	for !future.IsReady() {
		d.awaitAttempts(ctx, future)
	}
	var report delivery.Report
	err := future.Get(ctx, &report)
	if err == nil {
		d.last = report
	} else if told, ok := reportIn(err); ok {
		d.last = told
	}
	if handed != nil && d.streamMissed(err) {
		d.last = d.last.Miss(*handed)
	}
	return err
}

func (d *liveDelivery) options(now time.Time) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              d.queue(d.last),
		ScheduleToStartTimeout: d.scheduleToStartTimeout(now),
		StartToCloseTimeout:    tuning.LiveTimeout,
		HeartbeatTimeout:       d.heartbeatTimeout(),
		WaitForCancellation:    true,
		Summary:                "deliver " + d.spec.String(),
		RetryPolicy:            deliverRetry(),
	}
}

// awaitAttempts waits for the tries to end, or for something to happen meanwhile.
func (d *liveDelivery) awaitAttempts(ctx workflow.Context, tries workflow.Future) {
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(tries, func(workflow.Future) {})
	selector.AddReceive(d.changes, func(workflow.ReceiveChannel, bool) {
		if d.drainSignals() {
			d.stalled = true
			d.queryRunState(ctx)
		}
		if len(d.pending) > 0 { // what was recorded of the tries goes once they are called off
			d.queryRunState(ctx)
		}
	})
	if d.expiry != nil {
		selector.AddFuture(d.expiry, func(f workflow.Future) {
			d.expiry = nil
			if f.Get(ctx, nil) == nil {
				d.queryRunState(ctx)
			}
		})
	}
	if d.streamWatch != nil {
		selector.AddFuture(d.streamWatch, func(f workflow.Future) { d.endStreamWatch(ctx, f) })
	}
	if d.runState != nil {
		selector.AddFuture(d.runState, func(f workflow.Future) { d.applyRunState(ctx, f) })
	}
	selector.Select(ctx)
}

// drainSignals takes the changes that have arrived, and reports whether somebody only
// wants the timer to look at itself.
func (d *liveDelivery) drainSignals() (woken bool) {
	d.timerRun.drainSignals()
	var changes []timer.Change
	for _, change := range d.pending {
		if change.Wake {
			woken = true
		} else {
			changes = append(changes, change)
		}
	}
	d.pending = changes
	return woken
}

// awaitExpiry makes the workflow look at its latest time when that has come, as
// far as it is known.
func (d *liveDelivery) awaitExpiry(ctx workflow.Context) {
	if d.expiry == nil && d.last.Latest != 0 && !d.expired {
		d.startExpiry(ctx, d.last.Latest.Until(workflow.Now(ctx)))
	}
}

func (d *liveDelivery) startExpiry(ctx workflow.Context, wait time.Duration) {
	d.expiry = workflow.NewTimerWithOptions(ctx, max(wait, 0), workflow.TimerOptions{Summary: "the latest time"})
}

// queryRunState asks how the delivery stands: the policy may have changed its latest time.
func (d *liveDelivery) queryRunState(ctx workflow.Context) {
	if d.runState != nil {
		return
	}
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.QuestionTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2},
	})
	d.runState = workflow.ExecuteLocalActivity(ctx, ActivityRunState, d.spec)
}

// applyRunState does what the answer asks for. Without one, nothing is given up: it asks
// again later, and ever more seldom.
func (d *liveDelivery) applyRunState(ctx workflow.Context, answer workflow.Future) {
	d.runState = nil
	var state timer.RunState
	err := answer.Get(ctx, &state)
	if err == nil && state.Last != nil {
		d.last = *state.Last
	}
	if len(d.pending) > 0 {
		d.cancelAttempts()
		return
	}
	if err != nil {
		if ctx.Err() == nil && d.expiry == nil {
			d.startExpiry(ctx, min(tuning.AskAgain<<min(d.failedQueries, 10), tuning.AskAgainLongest))
			d.failedQueries++
		}
		return
	}
	d.failedQueries = 0
	d.last.Latest, d.last.PolicyVersion = state.Latest, state.PolicyVersion
	switch left := state.Latest.Until(workflow.Now(ctx)); {
	case state.Latest != 0 && left <= 0:
		d.expired = true
		d.cancelAttempts()
	case d.stalled:
		d.resumed = true
		d.cancelAttempts()
	}
	d.stalled = false
	d.awaitExpiry(ctx)
}
