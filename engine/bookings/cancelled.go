package bookings

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
)

// errCancelledBefore is the error of a booking that reached a timer after its cancel.
var errCancelledBefore = errors.New("the timer was cancelled before the booking came")

// cancelledBefore tells a booking after a timer's cancel from a booking before it. Temporal's
// history has both in the order of their arrival.
func (e *effects) cancelledBefore(ctx context.Context, s sent, outcome error) error {
	refused, ok := errors.AsType[*wire.Error](outcome)
	if !ok || refused.Code != wire.AlreadyFinished || timer.StateOf(refused).Status != timer.Cancelled {
		return outcome
	}
	cancelled, before := false, false
	err := e.kernel.EachEvent(ctx, s.key.String(), s.runID, func(event *historypb.HistoryEvent) {
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
	return kernel.Payloads.FromPayloads(input, &sent) == nil && sent.ID == change
}

// endedSince waits for the end of a run whose cancel kept a booking from being made. It
// reports whether the run has ended.
func (e *effects) endedSince(ctx context.Context, err error) bool {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || refused.Code != wire.CancelPending {
		return false
	}
	waiting, stop := e.kernel.Waiting(ctx, kernel.DefaultWait)
	defer stop()
	end, err := e.awaitEnd(waiting, timer.StateOf(refused).Key, timer.StateOf(refused).RunID)
	return err == nil && end.how != endedOpen
}
