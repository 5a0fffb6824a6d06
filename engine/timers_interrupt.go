package engine

import (
	"context"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// mayBePreloaded is whether a worker may hold the timer until its time.
func mayBePreloaded(view timer.View) bool {
	return !view.Memo.Resting() && view.Memo.WakesAt().Until(time.Now()) < tuning.NearWaking
}

// interrupt tells the worker that holds a timer of a change. Temporal keeps a
// signal from a worker that has the task, and from whoever describes the run; a
// request id that is attached to the run it shows. A cancel would do as well, but
// a run remembers one only, and that must be the one that means it.
func (t *Timers) interrupt(ctx context.Context, s sent) error {
	described, err := t.describe(ctx, s.key.String(), s.runID)
	if err != nil {
		return err
	}
	if !withWorker(described) {
		return nil
	}
	if err := t.mark(ctx, s); err != nil {
		return err
	}
	return t.notify(ctx, s.key, s.runID)
}

// mark attaches a request id to the run that a change waits for. One that comes
// when that run has closed is attached to the next one, which it does not name, or
// is refused; nothing is started but after somebody deleted the timer in this very
// moment, and that times out.
func (t *Timers) mark(ctx context.Context, s sent) error {
	_, err := t.client.WorkflowService().StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: t.namespace, WorkflowId: s.key.String(), RequestId: workflows.ChangeMark(s.runID) + s.change,
		WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeNotify}, TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.NobodysQueue},
		WorkflowExecutionTimeout: durationpb.New(tuning.MarkTimeout),
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		OnConflictOptions:        &workflowpb.OnConflictOptions{AttachRequestId: true},
	})
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) { // the timer has ended
		return nil
	}
	return translate(err)
}

// changeWaits is whether a change was marked to wait for the run.
func changeWaits(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	mark := workflows.ChangeMark(described.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	for attached := range described.GetWorkflowExtendedInfo().GetRequestIdInfos() {
		if strings.HasPrefix(attached, mark) {
			return true
		}
	}
	return false
}

func withWorker(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return running(described.GetWorkflowExecutionInfo()) &&
		described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
}

// notify makes the worker that holds a timer check it now, and not only when it is
// about to ring.
func (t *Timers) notify(ctx context.Context, key wire.Key, runID string) error {
	var worker string
	err := t.eachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil {
			worker = identity.Process(started.GetIdentity())
		}
	})
	if err != nil || worker == "" {
		return err
	}
	_, err = t.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.NotifyID(runID), TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: tuning.NotifyTimeout,
		StaticSummary: "notification of " + key.String(),
	}, workflows.TypeNotify, workflows.Notification{Worker: worker, RunID: runID})
	return translate(err)
}
