package engine

import (
	"context"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/timer"
)

// Cancel cancels a timer, and waits for it to be so, at most for wait. A timer
// that is cancelled already is no error. Its errors are [timer.NotFound],
// [timer.AlreadyFinished] and [timer.PreconditionFailed] with the timer's true
// state, and [timer.Unavailable].
func (e *Engine) Cancel(ctx context.Context, t Target) (timer.View, Effect, error) {
	key := t.Key
	if err := key.Check().Err(); err != nil {
		return timer.View{}, "", err
	}
	call, cancel := bounded(ctx)
	defer cancel()
	// Temporal answers a cancel of a closed workflow with success.
	view, err := e.get(call, key)
	if err == nil && !view.Card.Meets(t.IfMatch) {
		return timer.View{}, "", timer.Unmet(&view)
	}
	if err != nil || view.Status.Finished() {
		return cancelled(view, err)
	}
	waiting, stop := e.waiting(ctx, t.Wait)
	defer stop()
	for {
		if err := e.cancel(call, view, t.IfMatch); err != nil {
			return timer.View{}, "", err
		}
		end, err := e.awaitEnd(waiting, key, view.RunID)
		if err != nil {
			return timer.View{}, "", err
		}
		if end.how != endedContinued {
			view, err = e.run(ctx, key, view.RunID)
			if err == nil && !view.Status.Finished() {
				return view, Pending, nil
			}
			return cancelled(view, err)
		}
		// The run gave way to a change as the cancel came: the next one is to be
		// cancelled as well.
		if view, err = e.run(ctx, key, end.next); err != nil {
			return timer.View{}, "", err
		}
		if !view.Card.Meets(t.IfMatch) {
			return timer.View{}, "", timer.Unmet(&view)
		}
	}
}

// cancel asks the timer to cancel, whichever its run is by now, and the worker
// that may hold it to see that. A timer that has ended, and one that was booked
// since under its id, is left alone. With a condition it is that very run, and
// none that a change has begun: each change ends the run that it reaches.
func (e *Engine) cancel(ctx context.Context, view timer.View, ifMatch string) error {
	execution := &commonpb.WorkflowExecution{WorkflowId: view.String()}
	request := &workflowservice.RequestCancelWorkflowExecutionRequest{
		Namespace: e.Namespace, WorkflowExecution: execution, RequestId: uuid.NewString(), Identity: "wakecall",
	}
	if ifMatch == "" {
		request.FirstExecutionRunId = view.FirstRunID
	} else { // beside the first run Temporal would ignore this one
		execution.RunId = view.RunID
	}
	_, err := e.Client.WorkflowService().RequestCancelWorkflowExecution(ctx, request)
	if is[*serviceerror.NotFound](err) {
		return nil
	}
	if err != nil || !mayBeHeld(view) || view.Status != timer.Scheduled {
		return translate(err)
	}
	return e.notify(ctx, view.Key, view.RunID)
}

func cancelled(view timer.View, err error) (timer.View, Effect, error) {
	if err != nil {
		return timer.View{}, "", err
	}
	if view.Status != timer.Cancelled {
		return timer.View{}, "", finished(view)
	}
	return view, Done, nil
}
