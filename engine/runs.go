package engine

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

var errTaskPending = errors.New("no worker has taken yet what happened to the timer")

// Runs answers what a worker asks about a run that it delivers.
type Runs struct{ *kernel }

// SettledState tells whether a run still wants its next attempt, and how the last
// one went. The run must be open, and no cancel or change may have called the
// attempt off; an event that no worker has seen yet may do so, and is waited
// for. Its errors are [timer.NotFound] and [timer.Unavailable], or that no
// worker saw the event in time.
func (r *Runs) SettledState(ctx context.Context, key timer.Key, runID string) (timer.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.TaskWait)
	defer cancel()
	for {
		described, err := r.describe(ctx, key.String(), runID)
		if err != nil {
			return timer.RunState{}, err
		}
		if described.GetPendingWorkflowTask() == nil {
			return stateIn(described), nil
		}
		select {
		case <-time.After(tuning.TaskPoll):
		case <-ctx.Done():
			return timer.RunState{}, errTaskPending
		}
	}
}

// State is [Runs.SettledState] as of now, for the workflow that asks in a task
// of its own. Its errors are [timer.NotFound] and [timer.Unavailable].
func (r *Runs) State(ctx context.Context, key timer.Key, runID string) (timer.RunState, error) {
	described, err := r.describe(ctx, key.String(), runID)
	if err != nil {
		return timer.RunState{}, err
	}
	return stateIn(described), nil
}

func stateIn(described *workflowservice.DescribeWorkflowExecutionResponse) timer.RunState {
	status := described.GetWorkflowExecutionInfo().GetStatus()
	s := timer.RunState{Wanted: status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	for _, pending := range described.GetPendingActivities() {
		if pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			s.Wanted = false
		}
		if report, ok := recordedIn(pending); ok {
			s.Last = &report
		}
	}
	return s
}

// Wanted tells whether a run is open, nobody has asked it to cancel, and no change
// waits for it, also while a worker has its task, and is told of nothing. Its
// error is [timer.Unavailable].
func (r *Runs) Wanted(ctx context.Context, key timer.Key, runID string) (bool, error) {
	described, err := r.describe(ctx, key.String(), runID)
	if timer.CodeOf(err) == timer.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	cancelled := described.GetWorkflowExtendedInfo().GetCancelRequested()
	return running(described.GetWorkflowExecutionInfo()) && !cancelled && !changeWaits(described), nil
}

// Cause returns why a run was asked to cancel, in the words of who asked; ""
// when it was not, or without words. Its error is [timer.Unavailable].
func (r *Runs) Cause(ctx context.Context, key timer.Key, runID string) (cause string, err error) {
	err = r.eachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED {
			cause = event.GetWorkflowExecutionCancelRequestedEventAttributes().GetCause()
		}
	})
	return cause, err
}

// LeaveReceipt sends a run the report of its first attempt, for whichever worker has its next
// task. Its error is that of the signal.
func (r *Runs) LeaveReceipt(ctx context.Context, workflowID, runID string, report timer.Report) error {
	return r.client.SignalWorkflow(ctx, workflowID, runID, workflows.SignalReceipt, report)
}

// Holder returns the identity of the worker that had the first workflow task
// of a run before it was handed out again; "" when there was none. It reads
// the run's history, which is short by then. Its error is [timer.Unavailable].
func (r *Runs) Holder(ctx context.Context, key timer.Key, runID string) (worker string, err error) {
	var last string
	err = r.eachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			last = event.GetWorkflowTaskStartedEventAttributes().GetIdentity()
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			worker = last
		default:
		}
	})
	return worker, err
}
