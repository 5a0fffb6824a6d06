package bookings

import (
	"context"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/errtype"
)

// Canceller cancels timers.
type Canceller struct {
	kernel      *kernel.Kernel
	reader      *timers.Reader
	effects     *effects
	interrupter *interrupter
}

// Cancel cancels a timer, and waits at most wait for the effect. A timer that is cancelled
// already is no error. The errors are [wire.NotFound], [wire.AlreadyFinished] and
// [wire.PreconditionFailed] with the timer's true state, and [wire.Unavailable].
func (c *Canceller) Cancel(ctx context.Context, target Target) (timer.View, Effect, error) {
	key := target.Key
	if err := key.Check().Err(); err != nil {
		return timer.View{}, "", err
	}
	before, err := c.reader.Run(ctx, key, "")
	if err != nil {
		return timer.View{}, "", err
	}
	if err := target.unfit(before); err != nil {
		return timer.View{}, "", err
	}
	if before.Status.Finished() { // Temporal answers a cancel of a closed workflow with success
		before.Unchanged = true
		return cancelled(before)
	}
	after, err := c.cancelRuns(ctx, before, target)
	if err != nil {
		return timer.View{}, "", err
	}
	after.Found = &before.Memo
	return cancelled(after)
}

// cancelRuns cancels the present run of a timer, and each run to which that one gives way. It
// returns the timer as the last of them shows it, once that has ended or the caller's wait is over.
func (c *Canceller) cancelRuns(ctx context.Context, view timer.View, target Target) (timer.View, error) {
	waiting, stop := c.kernel.Waiting(ctx, target.Wait)
	defer stop()
	for {
		if err := c.cancel(ctx, view, target.IfMatch); err != nil {
			return view, err
		}
		end, err := c.effects.awaitEnd(waiting, view.Key, view.RunID)
		if err == nil && end.how == endedOpen {
			end.next, err = c.successor(ctx, view, target.IfMatch)
		}
		if err != nil {
			return view, err
		}
		if end.next == "" {
			return c.reader.Run(ctx, view.Key, view.RunID)
		}
		// The run gave way to a change as the cancel came.
		if view, err = c.reader.Run(ctx, view.Key, end.next); err != nil {
			return view, err
		}
		if !view.Memo.MatchesTag(target.IfMatch) {
			return view, timer.Unmet(&view)
		}
	}
}

// cancel requests the timer's cancel, in its present run, and makes the worker that may hold
// it see the request. It leaves alone a timer that has ended, and one booked since under its
// id. With a condition it cancels only that very run, and not its successor: each change
// ends its run.
func (c *Canceller) cancel(ctx context.Context, view timer.View, ifMatch string) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	execution := &commonpb.WorkflowExecution{WorkflowId: view.String()}
	request := &workflowservice.RequestCancelWorkflowExecutionRequest{
		Namespace: c.kernel.Namespace, WorkflowExecution: execution, RequestId: uuid.NewString(), Identity: actors.Identity,
	}
	if ifMatch == "" {
		request.FirstExecutionRunId = view.FirstRunID
	} else { // beside the first run Temporal would ignore this one
		execution.RunId = view.RunID
	}
	_, err := c.kernel.Client.WorkflowService().RequestCancelWorkflowExecution(ctx, request)
	if errtype.Is[*serviceerror.NotFound](err) {
		return nil
	}
	if err != nil {
		return kernel.Translate(err)
	}
	if !mayBePreloaded(view) {
		c.interrupter.unapplied.add(sent{key: view.Key, runID: view.RunID})
		return nil
	}
	if view.Status != timer.Scheduled {
		return nil
	}
	return c.interrupter.notify(ctx, view.Key, view.RunID)
}

// successor returns the run in which the timer goes on, and "" if it is still this one. A cancel
// of one run is lost on a run that has given way, although Temporal answers it with success.
func (c *Canceller) successor(ctx context.Context, view timer.View, ifMatch string) (string, error) {
	if ifMatch == "" { // the cancel was for the timer in any run
		return "", nil
	}
	latest, err := c.reader.Run(ctx, view.Key, "")
	if err != nil || latest.RunID == view.RunID || latest.FirstRunID != view.FirstRunID {
		return "", err
	}
	return latest.RunID, nil
}

// cancelled returns the result of a cancel, from the timer's state after it.
func cancelled(view timer.View) (timer.View, Effect, error) {
	switch {
	case !view.Status.Finished():
		return view, Pending, nil
	case view.Status != timer.Cancelled:
		return timer.View{}, "", timers.FinishedError(view)
	default:
		return view, Done, nil
	}
}
