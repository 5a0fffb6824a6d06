package engine

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/timer"
)

// Cancel cancels a timer, and waits for it to be so, at most for wait. A timer
// that is cancelled already is no error. Its errors are [timer.NotFound],
// [timer.AlreadyFinished] with the timer's true state, and [timer.Unavailable].
func (e *Engine) Cancel(ctx context.Context, key timer.Key, wait time.Duration) (timer.View, Effect, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, "", err
	}
	call, cancel := bounded(ctx)
	defer cancel()
	// Temporal answers a cancel of a closed workflow with success.
	view, err := e.get(call, key)
	if err != nil || view.Status.Finished() {
		return cancelled(view, err)
	}
	waiting, stop := e.waiting(ctx, wait)
	defer stop()
	for {
		if err := e.cancel(call, key, view); err != nil {
			return timer.View{}, "", err
		}
		end, err := e.awaitEnd(waiting, key, view.RunID)
		if err != nil {
			return timer.View{}, "", err
		}
		if view, err = e.Get(ctx, key); err != nil {
			return timer.View{}, "", err
		}
		switch {
		case end == endedOpen && !view.Status.Finished():
			return view, Pending, nil
		case view.Status.Finished():
			return cancelled(view, nil)
		}
		// The run gave way to a change as the cancel came: the next one is to be
		// cancelled as well.
	}
}

// cancel asks the timer to cancel, and the worker that may hold it to see that.
func (e *Engine) cancel(ctx context.Context, key timer.Key, view timer.View) error {
	if err := e.Client.CancelWorkflow(ctx, key.String(), ""); err != nil {
		return translate(err)
	}
	if !mayBeHeld(view) || view.Status != timer.Scheduled {
		return nil
	}
	return e.nudge(ctx, key, view.RunID)
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
