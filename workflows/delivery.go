package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// deliveryRun is a delivery that is under way. The server makes its attempts and holds each
// backoff. The workflow watches the latest time and the events in between.
type deliveryRun struct {
	*timerRun
	// last is the last report so far.
	last delivery.Report
	// expiry is ready at the latest time as known so far, and runState when the policy has
	// been queried for it. Nil for none.
	expiry, runState workflow.Future
	// failedQueries counts the queries in a row that failed.
	failedQueries int
	// stalled reports whether a wakeup said that nothing seems to be under way.
	stalled bool
	// expired, resumed and streamDown are reasons why the attempts were cancelled.
	expired, resumed, streamDown bool
	cancelAttempts               workflow.CancelFunc
	// streamWatch is ready when receivers have stopped taking attempts from the stream. Nil
	// for none.
	streamWatch workflow.Future
	// handedAt is when attempts were handed to a stream, and waitsUntil is the end of their
	// wait.
	handedAt   wire.Instant
	waitsUntil time.Time
	// indexed reports whether visibility finds the delivery by its webhook id.
	indexed bool
}

// deliver leaves the remaining attempts to the server, which holds each backoff. It waits
// for the last of them, for the latest time, or for an interruption. first is the report so
// far.
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
		if d.last.Result == delivery.ResultAccepted { // the next run does not get this run's acknowledgements
			d.drainAcknowledgements(workflow.GetSignalChannel(t.ctx, SignalAcknowledge))
		}
		switch {
		case d.last.Result == delivery.ResultDelivered:
		case t.interrupted():
			t.spec.Ongoing = d.ongoing()
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

// ongoing is the state of the delivery for the next run; nil before the first attempt.
func (d *deliveryRun) ongoing() *delivery.Report {
	if d.last.Attempt == 0 && d.last.Handed == nil {
		return nil
	}
	return &d.last
}

// advance brings the delivery on: by the server's tries, or, after an acceptance, by the
// receiver's acknowledgement.
func (d *deliveryRun) advance() error {
	if d.last.Result == delivery.ResultAccepted {
		return d.awaitAcknowledgement()
	}
	return d.makeAttempts()
}

// drainSignals takes the changes that have arrived, and reports whether one is only a
// wakeup.
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
