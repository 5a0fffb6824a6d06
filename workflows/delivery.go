package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// deliveryRun is a delivery that is under way. The server makes its attempts and holds each backoff;
// the workflow watches the latest time, and what may come between.
type deliveryRun struct {
	*timerRun
	// last is what is known of it so far.
	last delivery.Report
	// expiry is ready at the latest time, as far as it is known, and runState when the
	// policy was asked for it. Nil for none.
	expiry, runState workflow.Future
	// failedQueries counts the queries in a row that failed.
	failedQueries int
	// stalled reports whether somebody has woken the timer because nothing seems to be
	// under way for it.
	stalled bool
	// expired, resumed and streamDown are why its attempts were cancelled, if they were.
	expired, resumed, streamDown bool
	cancelAttempts               workflow.CancelFunc
	// streamWatch is ready when no receiver takes anything any more from the stream at
	// which the attempts wait. Nil for none.
	streamWatch workflow.Future
	// handedAt is when the attempts were handed over that wait for a receiver, and
	// waitsUntil is until when they do.
	handedAt   wire.Instant
	waitsUntil time.Time
	// indexed reports whether the delivery can be found by its webhook id.
	indexed bool
}

// deliver leaves the attempts that remain to the server, which holds each
// backoff, and waits for the last of them, for the latest time, or for an
// interruption. first is what is known of the delivery so far.
func (t *timerRun) deliver(first delivery.Report) decision {
	setState(t.ctx, timer.Delivering)
	t.delivering, t.shown = true, true
	d := &deliveryRun{timerRun: t, last: first}
	if own := t.spec.Latest(0); own != 0 { // the timer's own may have changed since
		d.last.Latest = own
	}
	d.awaitExpiry()
	for !d.last.Result.Final() {
		err := d.advance()
		d.drainSignals()
		if d.last.Result == delivery.ResultAccepted { // the run that follows does not hear what came to this one
			d.drainAcknowledgements(workflow.GetSignalChannel(t.ctx, SignalAcknowledge))
		}
		switch {
		case d.last.Result == delivery.ResultDelivered:
		case t.interrupted():
			t.spec.Standing = d.standing()
			return t.applyPending()
		case d.last.Result.Final() || d.last.Result == delivery.ResultAccepted || d.resumed || d.streamDown:
		case d.expired:
			d.last.Result = delivery.ResultExpired
		case failedWithoutReport(err):
			workflow.GetLogger(t.ctx).Warn("A delivery ended without a report", "error", err)
			d.last.Result, d.last.Failure = delivery.ResultFailed, delivery.DeliveryBroken.Failure(0)
		}
	}
	return t.finish(d.last)
}

// standing is what the next run has to know of the delivery; nil where no attempt was made.
func (d *deliveryRun) standing() *delivery.Report {
	if d.last.Attempt == 0 && d.last.Handed == nil {
		return nil
	}
	return &d.last
}

// advance brings the delivery on: by the tries that the server makes, or, of an attempt
// that was accepted, by what its receiver says.
func (d *deliveryRun) advance() error {
	if d.last.Result == delivery.ResultAccepted {
		return d.awaitAcknowledgement()
	}
	return d.makeAttempts()
}

// drainSignals takes the changes that have arrived, and reports whether somebody only
// wants the timer to look at itself.
func (d *deliveryRun) drainSignals() (woken bool) {
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
