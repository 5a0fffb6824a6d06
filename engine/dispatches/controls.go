package dispatches

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Controls changes, pauses, resumes and cancels dispatches.
type Controls struct {
	kernel *kernel.Kernel
	reader *Reader
}

// Change changes a dispatch, and waits at most wait for the effect. applied is false if no
// worker took the change in that time. The change is durable all the same. The errors are
// [wire.InvalidRequest], [wire.NotFound], [wire.AlreadyFinished], [wire.ChangedTooOften] and
// [wire.Unavailable].
func (c *Controls) Change(
	ctx context.Context, key wire.Key, change dispatch.Change, wait time.Duration,
) (view dispatch.View, applied bool, err error) {
	if err := change.Check().Err(); err != nil {
		return view, false, err
	}
	if change.PerSecond != nil {
		c.reader.refreshCapacity(ctx)
	}
	before, err := c.reader.Get(ctx, key)
	switch {
	case err != nil:
		return view, false, err
	case before.Status.Finished():
		return view, false, dispatchFinished(before)
	case before.CancelRequested:
		return view, false, dispatchCancelPending(before)
	case before.Events >= tuning.ChangeableHistory:
		return view, false, &wire.Error{Code: wire.ChangedTooOften, State: &before, Message: "Temporal takes no more changes of this dispatch, " +
			"because they would end it. The dispatch continues unchanged. You can cancel it, or pause its business type."}
	}
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	if err := c.signal(call, key, workflows.SignalChange, change); err != nil {
		return view, false, err
	}
	view, applied, err = c.await(ctx, key, wait, func(now dispatch.View) bool {
		return now.Status.Finished() || now.Memo.Plan.Changes > before.Memo.Plan.Changes && now.Memo.Plan.Shows(change)
	})
	switch {
	case err != nil:
	case view.Status.Finished(): // it ended before the change, or with it: the change has no effect
		return dispatch.View{}, false, dispatchFinished(view)
	case !applied && view.CancelRequested:
		return dispatch.View{}, false, dispatchCancelPending(view)
	}
	return view, applied, err
}

// Pause stops a dispatch until it is resumed. See [Controls.Change].
func (c *Controls) Pause(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	paused := true
	return c.Change(ctx, key, dispatch.Change{Paused: &paused}, wait)
}

// Resume resumes a dispatch. See [Controls.Change].
func (c *Controls) Resume(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error) {
	paused := false
	return c.Change(ctx, key, dispatch.Change{Paused: &paused}, wait)
}

// Cancel ends a dispatch, after the callbacks under way. A cancelled one stays cancelled.
// See [Controls.Change].
func (c *Controls) Cancel(ctx context.Context, key wire.Key, wait time.Duration) (view dispatch.View, applied bool, err error) {
	view, err = c.reader.Get(ctx, key)
	switch {
	case err != nil:
		return dispatch.View{}, false, err
	case view.Status == dispatch.Cancelled:
		return view, true, nil
	case view.Status.Finished():
		return dispatch.View{}, false, dispatchFinished(view)
	}
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	err = kernel.Translate(c.kernel.Client.CancelWorkflow(call, workflows.DispatchWorkflowID(key), ""))
	switch {
	case wire.CodeOf(err) == wire.NotFound: // deleted in this moment
		return dispatch.View{}, false, noDispatch()
	case err != nil:
		return dispatch.View{}, false, err
	}
	view, applied, err = c.await(ctx, key, wait, func(now dispatch.View) bool { return now.Status.Finished() })
	if err == nil && applied && view.Status != dispatch.Cancelled {
		return dispatch.View{}, false, dispatchFinished(view)
	}
	return view, applied, err
}

// await returns a dispatch once it meets the condition, or when wait is over.
func (c *Controls) await(ctx context.Context, key wire.Key, wait time.Duration, as func(dispatch.View) bool) (dispatch.View, bool, error) {
	waiting, stop := c.kernel.Waiting(ctx, wait)
	defer stop()
	next := time.NewTicker(tuning.EffectPoll)
	defer next.Stop()
	for {
		view, err := c.reader.Get(ctx, key)
		if err != nil || as(view) {
			return view, err == nil, err
		}
		select {
		case <-next.C:
		case <-waiting.Done():
			return view, false, ctx.Err()
		}
	}
}

// ReportProgress sends a dispatch its progress, for readers of its workflow. The errors are
// those of [Reader.Get].
func (c *Controls) ReportProgress(ctx context.Context, key wire.Key) error {
	view, err := c.reader.Get(ctx, key)
	if err != nil {
		return err
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	return c.signal(ctx, key, workflows.SignalProgress, dispatch.Counts{Done: view.Done, Failed: view.Failed})
}

// signal signals a dispatch. One that has ended is [wire.AlreadyFinished].
func (c *Controls) signal(ctx context.Context, key wire.Key, name string, value any) error {
	err := kernel.Translate(c.kernel.Client.SignalWorkflow(ctx, workflows.DispatchWorkflowID(key), "", name, value))
	if wire.CodeOf(err) != wire.NotFound {
		return err
	}
	view, err := c.reader.Get(ctx, key)
	if err != nil {
		return err
	}
	return dispatchFinished(view)
}
