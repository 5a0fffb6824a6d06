package deliveries

import (
	"context"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/histories"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Deliveries takes receivers' acknowledgements of accepted deliveries.
type Deliveries struct {
	kernel   *kernel.Kernel
	reader   *timers.Reader
	attempts *histories.Attempts
	box      *seal.Box
}

// New returns the deliveries of a namespace.
func New(k *kernel.Kernel, reader *timers.Reader, attempts *histories.Attempts, box *seal.Box) *Deliveries {
	return &Deliveries{kernel: k, reader: reader, attempts: attempts, box: box}
}

// Accepted names a delivery that was accepted, or is about to be.
type Accepted struct {
	Key       wire.Key
	WebhookID string
	// Round and Attempt are those of the acknowledged attempt; Attempt is 0 if unknown.
	Round, Attempt int
}

func noDelivery() error {
	return &wire.Error{Code: wire.NotFound, Message: "There is no such delivery, or it has not been accepted."}
}

// Find finds a delivery by its webhook id, once visibility shows its acceptance, which lags
// behind by a moment. A delivery that the caller may not see takes as long as a missing one.
// The errors are [wire.NotFound] and [wire.Unavailable].
func (d *Deliveries) Find(ctx context.Context, webhookID string, sees func(businessType string) bool) (Accepted, error) {
	if !timer.IsMessageID(webhookID) {
		return Accepted{}, noDelivery()
	}
	waiting, cancel := context.WithTimeout(ctx, tuning.DeliveryWait)
	defer cancel()
	for {
		response, err := d.kernel.List(ctx, query.All(visibility.Timers(), visibility.WebhookID.Is(webhookID)), 1, nil)
		if err != nil {
			return Accepted{}, err
		}
		for _, info := range response.GetExecutions() {
			if key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId()); ok && sees(key.BusinessType) {
				return Accepted{Key: key, WebhookID: webhookID}, nil
			}
		}
		select {
		case <-time.After(tuning.DeliveryPoll):
		case <-waiting.Done():
			return Accepted{}, noDelivery()
		}
	}
}

// Acknowledge passes on a receiver's acknowledgement, and waits at most wait for the effect.
// A repeated acknowledgement is no error. The errors are [wire.NotFound], [wire.NotAwaited]
// with the timer's true state, and [wire.Unavailable].
func (d *Deliveries) Acknowledge(
	ctx context.Context, of Accepted, acknowledgement delivery.Acknowledgement, wait time.Duration,
) (timer.View, bookings.Effect, error) {
	waiting, stop := d.kernel.Waiting(ctx, wait)
	defer stop()
	acknowledgement.WebhookID = of.WebhookID
	said := &word{Acknowledgement: acknowledgement, of: of}
	over := false // once the wait is over there is one more look
	for pause := tuning.TaskPoll; ; pause = min(2*pause, tuning.LongestTaskPoll) {
		now, err := d.state(ctx, of.Key)
		if err != nil {
			return timer.View{}, "", err
		}
		said.address(now)
		became, err := d.result(ctx, now, said)
		switch {
		case err != nil:
			return timer.View{}, "", err
		case became == settled:
			view, err := d.reader.Get(ctx, of.Key)
			return view, bookings.Done, err
		case became == refused:
			return timer.View{}, "", d.notAwaited(ctx, of.Key)
		case said.last.runID != now.view.RunID:
			if err = d.signalWord(ctx, now.view, said); err != nil {
				return timer.View{}, "", err
			}
		}
		if over {
			return d.answerPending(ctx, of.Key)
		}
		select {
		case <-time.After(pause):
		case <-waiting.Done():
			over = true
		}
	}
}

// word is a receiver's acknowledgement, and the last run that took it.
type word struct {
	delivery.Acknowledgement
	of   Accepted
	last told
}

// told is a run that took a word, and the attempt that the word concerns.
type told struct {
	runID   string
	attempt int
}

// address directs the word to the present run. A change begins another run, which must get
// it too.
func (w *word) address(now state) {
	if w.last.runID != now.view.RunID {
		w.Attempt, w.Round = now.attemptOf(w.of, w.Acknowledgement), now.roundOf(w.of)
	}
}

// answerPending answers a word that has no effect yet. A cancel outweighs it.
func (d *Deliveries) answerPending(ctx context.Context, key wire.Key) (timer.View, bookings.Effect, error) {
	view, err := d.reader.Get(ctx, key)
	if err == nil && view.CancelRequested {
		return timer.View{}, "", timers.CancelPendingError(view)
	}
	return view, bookings.Pending, err
}

// signalWord sends a word to the run, and notes that the run took it. A closed run takes nothing.
func (d *Deliveries) signalWord(ctx context.Context, to timer.View, said *word) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	err := d.kernel.Client.SignalWorkflow(ctx, to.String(), to.RunID, workflows.SignalAcknowledge, said.Acknowledgement)
	if errtype.Is[*serviceerror.NotFound](err) {
		return nil
	}
	if err == nil {
		said.last = told{to.RunID, said.Attempt}
	}
	return kernel.Translate(err)
}

func (d *Deliveries) notAwaited(ctx context.Context, key wire.Key) error {
	view, err := d.reader.Get(ctx, key)
	if err != nil {
		return err
	}
	return &wire.Error{Code: wire.NotAwaited, State: &view,
		Message: "No acknowledgement is awaited: its time has passed, or the delivery has ended."}
}
