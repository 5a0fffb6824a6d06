package engine

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/timer"
)

// Holder returns the identity of the worker that had the first workflow task
// of a run before it was handed out again; "" when there was none. It reads
// the run's history, which is short by then. Its error is [timer.Unavailable].
func (e *Engine) Holder(ctx context.Context, key timer.Key, runID string) (worker string, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	history := e.Client.GetWorkflowHistory(ctx, key.String(), runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var last string
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return "", translate(err)
		}
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			last = event.GetWorkflowTaskStartedEventAttributes().GetIdentity()
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			worker = last
		default:
		}
	}
	return worker, nil
}
