package engine

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// cancelPending refuses what comes after a cancel that no worker has carried out yet.
func cancelPending(view timer.View) error {
	return &wire.Error{
		Code: wire.CancelPending, State: &view,
		Message: "The timer is being cancelled. Repeat the request once it is cancelled.",
	}
}

// errCancelledBefore says that a timer was cancelled before a booking reached it.
var errCancelledBefore = errors.New("the timer was cancelled before the booking came")

// cancelledBefore tells a booking that came after the cancel of a timer from one that the
// cancel was sent after. Temporal's history has both in the order in which it took them.
func (t *Timers) cancelledBefore(ctx context.Context, s sent, outcome error) error {
	refused, ok := errors.AsType[*wire.Error](outcome)
	if !ok || refused.Code != wire.AlreadyFinished || timer.StateOf(refused).Status != timer.Cancelled {
		return outcome
	}
	cancelled, before := false, false
	err := t.eachEvent(ctx, s.key.String(), s.runID, func(event *historypb.HistoryEvent) {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
			cancelled = true
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			before = before || cancelled && signals(event, s.change)
		default:
		}
	})
	switch {
	case err != nil:
		return err
	case before:
		return errCancelledBefore
	default:
		return outcome
	}
}

// signals reports whether an event is the signal of a change.
func signals(event *historypb.HistoryEvent, change string) bool {
	var sent timer.Change
	input := event.GetWorkflowExecutionSignaledEventAttributes().GetInput()
	return payloads.FromPayloads(input, &sent) == nil && sent.ID == change
}

// endedSince waits for the end of a run whose cancel kept a booking from being made. It
// reports whether the run has ended.
func (t *Timers) endedSince(ctx context.Context, err error) bool {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || refused.Code != wire.CancelPending {
		return false
	}
	waiting, stop := t.waiting(ctx, DefaultWait)
	defer stop()
	end, err := t.awaitEnd(waiting, timer.StateOf(refused).Key, timer.StateOf(refused).RunID)
	return err == nil && end.how != endedOpen
}
