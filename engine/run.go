package engine

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/timer"
)

const (
	// unheardPoll and unheardLimit pace the wait for a worker to hear of what
	// happened to a run.
	unheardPoll  = 20 * time.Millisecond
	unheardLimit = 2 * time.Second
)

var errUnheard = errors.New("no worker has heard yet what happened to the timer")

// Wanted reports whether a run still wants its next attempt: it is open, and
// no cancel or change has called the attempt off. An event that no worker has
// seen yet may do so, and is waited for. Its errors are [timer.NotFound] and
// [timer.Unavailable], or that no worker saw the event in time.
func (e *Engine) Wanted(ctx context.Context, key timer.Key, runID string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, unheardLimit)
	defer cancel()
	for {
		described, err := e.Client.DescribeWorkflowExecution(ctx, key.String(), runID)
		if err != nil {
			return false, translate(err)
		}
		if described.GetPendingWorkflowTask() == nil {
			return wanted(described), nil
		}
		select {
		case <-time.After(unheardPoll):
		case <-ctx.Done():
			return false, errUnheard
		}
	}
}

func wanted(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	for _, pending := range described.GetPendingActivities() {
		if pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			return false
		}
	}
	return described.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

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
