package bookings

import (
	"context"
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
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// interrupter notifies the worker that holds a timer.
type interrupter struct {
	kernel    *kernel.Kernel
	unapplied *Unapplied
}

// mayBePreloaded reports whether a worker may hold the timer until its time.
func mayBePreloaded(view timer.View) bool {
	return !view.Memo.Resting() && view.Memo.WakesAt().Until(time.Now()) < tuning.NearWaking
}

// interrupt notifies the worker that holds a timer of a change. While the worker has the
// task, Temporal hides a signal from it and from a describe of the run. It does show a
// request id attached to the run. A cancel would also be shown, but a run remembers only
// one, and that must be a real one. A timer that no worker can hold gets a task by its change.
// view is the timer as read before the change. Another change may have come between them, and moved
// the timer into a worker's hands.
func (i *interrupter) interrupt(ctx context.Context, view timer.View, s sent) error {
	if s.runID == view.RunID && !mayBePreloaded(view) {
		i.unapplied.add(s)
		return nil
	}
	described, err := i.kernel.Describe(ctx, s.key.String(), s.runID)
	if err != nil {
		return err
	}
	if !kernel.WithWorker(described) {
		return nil
	}
	if err := i.mark(ctx, s); err != nil {
		return err
	}
	return i.notify(ctx, s.key, s.runID)
}

// mark attaches a request id to the run with a waiting change. If that run has closed, the
// id is attached to the next run without naming it, or is refused. It starts a run only if
// the timer was deleted in this very moment, and that run times out.
func (i *interrupter) mark(ctx context.Context, s sent) error {
	_, err := i.kernel.Client.WorkflowService().StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: i.kernel.Namespace, WorkflowId: s.key.String(), RequestId: workflows.ChangeMark(s.runID) + s.change,
		WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeNotify}, TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.UnpolledQueue},
		WorkflowExecutionTimeout: durationpb.New(tuning.MarkTimeout),
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		OnConflictOptions:        &workflowpb.OnConflictOptions{AttachRequestId: true},
	})
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) { // the timer has ended
		return nil
	}
	return kernel.Translate(err)
}

// notify makes the worker that holds a timer check it now, and not only shortly before it rings.
func (i *interrupter) notify(ctx context.Context, key wire.Key, runID string) error {
	var worker string
	err := i.kernel.EachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil {
			worker = identity.Process(started.GetIdentity())
		}
	})
	if err != nil || worker == "" {
		return err
	}
	_, err = i.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.NotifyID(runID), TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: tuning.ErrandLife,
		StaticSummary: "notification of " + key.String(),
	}, workflows.TypeNotify, workflows.Notification{Worker: worker, RunID: runID})
	return kernel.Translate(err)
}
