package bookings

import (
	"context"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// effects awaits the effects of changes.
type effects struct {
	kernel    *kernel.Kernel
	reader    *timers.Reader
	unapplied *Unapplied
}

// ending is how one run of a timer closed.
type ending struct {
	how  outcome
	next string // the run that continues it
}

type outcome string

const (
	endedOpen      outcome = "" // it did not close in time
	endedContinued outcome = "continued"
	endedCancelled outcome = "cancelled"
	endedFinished  outcome = "finished" // delivered, failed or expired
)

// awaitEnd waits for the run to close. Every change and every cancel ends the run it
// reaches, so the closing event shows the effect.
func (e *effects) awaitEnd(ctx context.Context, key wire.Key, runID string) (ending, error) {
	history := e.kernel.Client.GetWorkflowHistory(ctx, key.String(), runID, true,
		enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	event, err := history.Next()
	if err != nil {
		if kernel.Expired(ctx, err) {
			return ending{}, nil
		}
		return ending{}, kernel.Translate(err)
	}
	e.unapplied.remove(runID)
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		next := event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		return ending{how: endedContinued, next: next}, nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		return ending{how: endedCancelled}, nil
	default:
		return ending{how: endedFinished}, nil
	}
}

// refusedBy answers a change that Temporal did not accept. It may have accepted the change at an
// earlier try of the call, and the timer has ended since.
func (e *effects) refusedBy(ctx context.Context, key wire.Key, change string, err error) (timer.View, Effect, error) {
	if !errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return timer.View{}, "", kernel.Translate(err)
	}
	view, err := e.reader.Get(ctx, key)
	if err != nil {
		return timer.View{}, "", err
	}
	return endedAfter(change, view)
}

// endedAfter answers a change of a timer that has ended: it was applied before, or came too late.
func endedAfter(change string, view timer.View) (timer.View, Effect, error) {
	if view.Memo.Applied.Has(change) {
		return view, Done, nil
	}
	return timer.View{}, "", timers.FinishedError(view)
}

// sent is a change that Temporal has accepted.
type sent struct {
	key    wire.Key
	runID  string
	change string
}

// awaitEffect waits for the effect of a change.
func (e *effects) awaitEffect(ctx context.Context, s sent, wait time.Duration) (timer.View, Effect, error) {
	end, view, err := e.awaitEndOrView(ctx, s, wait)
	if err != nil {
		return timer.View{}, "", err
	}
	switch end.how {
	case endedOpen:
		if view.CancelRequested {
			return timer.View{}, "", timers.CancelPendingError(view)
		}
		view.PendingChange = s.change
		return view, Pending, nil
	case endedContinued:
		return e.applied(ctx, s, end.next)
	default:
		view, err := e.reader.Run(ctx, s.key, s.runID)
		if err != nil {
			return timer.View{}, "", err
		}
		return endedAfter(s.change, view)
	}
}

// awaitEndOrView waits for the end of the run of a change, and returns the timer where the run is
// still open after the wait. A run that closes between the two is asked for its end once more.
func (e *effects) awaitEndOrView(ctx context.Context, s sent, wait time.Duration) (end ending, view timer.View, err error) {
	waiting, cancel := e.kernel.Waiting(ctx, wait)
	defer cancel()
	if end, err = e.awaitEnd(waiting, s.key, s.runID); err != nil || end.how != endedOpen {
		return end, view, err
	}
	view, err = e.reader.Get(ctx, s.key)
	if err != nil || view.RunID == s.runID && !view.Status.Finished() {
		return end, view, err
	}
	bounded, release := kernel.Bounded(ctx)
	defer release()
	end, err = e.awaitEnd(bounded, s.key, s.runID)
	return end, view, err
}

// applied returns the effect of a change with which the run next began.
func (e *effects) applied(ctx context.Context, s sent, next string) (timer.View, Effect, error) {
	began, err := e.reader.Run(ctx, s.key, next)
	if err != nil {
		return timer.View{}, "", err
	}
	view, err := e.reader.Get(ctx, s.key)
	if err != nil {
		return timer.View{}, "", err
	}
	if refusal, refused := began.Memo.Refusals.Find(s.change); refused {
		if refusal.Unmet() {
			return timer.View{}, "", timer.Unmet(&view)
		}
		return timer.View{}, "", &wire.Error{
			Code: wire.Overtaken, State: &view, FieldErrors: refusal.FieldErrors,
			Message: "Another change came first, and this one no longer fits the timer.",
		}
	}
	return view, Done, nil
}

// isUpToDate reports whether a run is open with nothing for a worker to apply, so that its
// shown state is final. It waits for a worker that is about to finish.
func (e *effects) isUpToDate(ctx context.Context, view timer.View) (bool, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	patience := time.After(tuning.SettledWait)
	for {
		described, err := e.kernel.Describe(ctx, view.String(), view.RunID)
		if err != nil || !kernel.Running(described.GetWorkflowExecutionInfo()) {
			return false, err
		}
		if described.GetPendingWorkflowTask() == nil {
			return !applying(described), nil
		}
		select {
		case <-time.After(tuning.TaskPoll):
		case <-patience:
			return false, nil
		}
	}
}

// applying reports whether a run has received a change and not applied it yet. It waits for the
// attempt that it called off, or for its receipt.
func applying(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return slices.ContainsFunc(described.GetPendingActivities(), func(a *workflowpb.PendingActivityInfo) bool {
		return a.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED || a.GetActivityType().GetName() == workflows.ActivityAsk
	})
}
