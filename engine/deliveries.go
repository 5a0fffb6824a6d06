package engine

import (
	"context"
	"regexp"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Deliveries take what receivers say of deliveries that they accepted.
type Deliveries struct {
	timers *Timers
	box    *seal.Box
}

// Accepted names a delivery that was accepted, or is about to be.
type Accepted struct {
	Key       timer.Key
	WebhookID string
	// Round and Attempt are those that were told of it; Attempt is 0 where that is not known.
	Round, Attempt int
}

// webhookIDForm is that of [timer.MessageID].
var webhookIDForm = regexp.MustCompile(`^msg_[a-z2-7]{26}$`)

func noDelivery() error {
	return &timer.Error{Code: timer.NotFound, Message: "There is no such delivery, or it has not been accepted."}
}

// Find finds a delivery by its webhook id, once visibility has heard that it was accepted,
// which lags behind by a moment. Its errors are [timer.NotFound] and [timer.Unavailable].
func (d *Deliveries) Find(ctx context.Context, webhookID string) (Accepted, error) {
	if !webhookIDForm.MatchString(webhookID) {
		return Accepted{}, noDelivery()
	}
	waiting, cancel := context.WithTimeout(ctx, tuning.DeliveryWait)
	defer cancel()
	for {
		response, err := d.timers.list(ctx, query.All(ofTimers(), attrWebhookID.Is(webhookID)), 1, nil)
		if err != nil {
			return Accepted{}, err
		}
		for _, info := range response.GetExecutions() {
			if key, ok := timer.ParseKey(info.GetExecution().GetWorkflowId()); ok {
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

// Acknowledge hands on what a receiver says of a delivery, and waits for the effect, at
// most for wait. What was said before is no error when it is said again. Its errors are
// [timer.NotFound], [timer.NotAwaited] with the timer's true state, and
// [timer.Unavailable].
func (d *Deliveries) Acknowledge(ctx context.Context, of Accepted, word timer.Acknowledgement, wait time.Duration) (timer.View, Effect, error) {
	waiting, stop := d.timers.waiting(ctx, wait)
	defer stop()
	word.WebhookID = of.WebhookID
	var told standing // as it was when the word was said
	for said, pause := false, tuning.TaskPoll; ; pause = min(2*pause, tuning.LongestTaskPoll) {
		now, err := d.standing(ctx, of.Key)
		if err != nil {
			return timer.View{}, "", err
		}
		if said && told.view.RunID != now.view.RunID { // a change began another run: it has to be told too
			said = false
		}
		if !said {
			told, word.Attempt, word.Round = now, now.attemptOf(of, word), now.roundOf(of)
		}
		became, err := d.fate(ctx, now, told, word)
		if err != nil {
			return timer.View{}, "", err
		}
		if became == undecided && now.view.CancelRequested && !now.moving {
			became = refused // a cancel outweighs every word
		}
		switch became {
		case settled:
			view, err := d.timers.Get(ctx, of.Key)
			return view, Done, err
		case refused:
			return timer.View{}, "", d.notAwaited(ctx, of.Key)
		case undecided:
		}
		if !said {
			if said, err = d.say(ctx, told, word); err != nil {
				return timer.View{}, "", err
			}
		}
		select {
		case <-time.After(pause):
		case <-waiting.Done():
			view, err := d.timers.Get(ctx, of.Key)
			if err == nil && view.CancelRequested {
				return timer.View{}, "", cancelPending(view)
			}
			return view, Pending, err
		}
	}
}

// say signals the run. One that has closed meanwhile took nothing.
func (d *Deliveries) say(ctx context.Context, s standing, word timer.Acknowledgement) (taken bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	err = d.timers.client.SignalWorkflow(ctx, s.view.String(), s.view.RunID, workflows.SignalAcknowledge, word)
	if errtype.Is[*serviceerror.NotFound](err) {
		return false, nil
	}
	return err == nil, translate(err)
}

func (d *Deliveries) notAwaited(ctx context.Context, key timer.Key) error {
	view, err := d.timers.Get(ctx, key)
	if err != nil {
		return err
	}
	return &timer.Error{Code: timer.NotAwaited, Timer: &view, Message: "Nothing is awaited of the receiver: its time was up, or the delivery has ended otherwise."}
}
