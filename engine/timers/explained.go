package timers

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/identity"
)

// Explained is [Reader.Get], with the worker that makes an attempt, and what stops the callbacks of its
// type meanwhile: a worker that polls still may have taken the attempt to look, and puts it back then.
func (r *Reader) Explained(ctx context.Context, key wire.Key) (timer.View, error) {
	view, err := r.Get(ctx, key)
	waits := view.WaitsFor != "" || view.NextAttemptAt.Until(time.Now()) > 0
	if err != nil || view.Status != timer.Delivering || waits {
		return view, err
	}
	if view.Circumstances.Worker == "" {
		err = r.showTask(ctx, key, &view)
	}
	r.waits.ShowStopped(ctx, &view)
	return view, err
}

// showTask adds the worker of a first attempt. That is part of a workflow task, and the history tells who
// has the task. Of an activity Temporal tells it by itself.
func (r *Reader) showTask(ctx context.Context, key wire.Key, view *timer.View) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	var c timer.Circumstances
	err := r.kernel.EachEvent(ctx, key.String(), view.RunID, func(event *historypb.HistoryEvent) {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			c.Worker = identity.Process(event.GetWorkflowTaskStartedEventAttributes().GetIdentity())
			c.AttemptSince = max(wire.At(event.GetEventTime().AsTime()), view.Memo.RingsAt())
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			c = timer.Circumstances{}
		default:
		}
	})
	if err == nil {
		view.Circumstances = c
	}
	return err
}
