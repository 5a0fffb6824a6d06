package engine

import (
	"context"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

const (
	// nearWaking is how long before it wakes a timer may be with a worker: the
	// clocks differ.
	nearWaking = time.Second
	// nudgeTimeout is how long a nudge may take.
	nudgeTimeout = 10 * time.Second
)

// mayBeHeld is whether a worker may hold the timer until its time.
func mayBeHeld(view timer.View) bool {
	return !view.Card.Resting() && view.Card.WakesAt().Until(time.Now()) < nearWaking
}

// callOff tells the worker that holds a timer of a change. Temporal keeps a
// signal from a worker that has the task; that a run was asked to cancel it
// shows to whoever asks. So the change is followed by a cancel, which says that
// it means no more than that. One that comes for the next run finds this one
// closed, and does nothing.
func (e *Engine) callOff(ctx context.Context, key timer.Key, runID string) error {
	described, err := e.Client.DescribeWorkflowExecution(ctx, key.String(), runID)
	if err != nil {
		return translate(err)
	}
	if !withWorker(described) {
		return nil
	}
	_, err = e.Client.WorkflowService().RequestCancelWorkflowExecution(ctx, &workflowservice.RequestCancelWorkflowExecutionRequest{
		Namespace: e.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: key.String(), RunId: runID},
		Reason: workflows.CauseChange, RequestId: uuid.NewString(),
	})
	if err != nil {
		return translate(err)
	}
	return e.nudge(ctx, key, runID)
}

func withWorker(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return running(described.GetWorkflowExecutionInfo()) &&
		described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
}

// nudge makes the worker that holds a timer look at it now, and not only when it
// is about to ring.
func (e *Engine) nudge(ctx context.Context, key timer.Key, runID string) error {
	var worker string
	err := e.eachEvent(ctx, key, runID, func(event *historypb.HistoryEvent) {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil {
			worker = started.GetIdentity()
		}
	})
	if err != nil || worker == "" {
		return err
	}
	_, err = e.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.NudgeID(runID), TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: nudgeTimeout,
		StaticSummary: "nudge of " + key.String(),
	}, workflows.TypeNudge, workflows.Nudging{Worker: worker, RunID: runID})
	return translate(err)
}
