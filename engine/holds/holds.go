package holds

import (
	"context"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/identity"
)

// Holds are the workflow tasks that workers hold. Until a task times out, Temporal gives the
// run's task to no other worker. Here the task of a worker that will not end it is freed:
// the run goes on at once and keeps its signals and its cancel. A later result from that
// worker is refused (docs/decisions/0071-what-lost-its-timeout-is-freed.md).
type Holds struct {
	kernel *kernel.Kernel

	namespaceID atomic.Pointer[string]
}

// New returns the holds of a namespace.
func New(k *kernel.Kernel) *Holds { return &Holds{kernel: k} }

// Task is a worker's workflow task of a run.
type Task struct {
	workflowID, runID string
	// scheduled, attempt and version identify the task to Temporal, and started its start.
	scheduled, attempt, version, started int64
	// holder is the worker; "" if Temporal does not name it.
	holder    string
	startedAt time.Time
	timeout   time.Duration
	events    []*historypb.HistoryEvent
}

// Holder is the worker that has the task; "" where Temporal does not tell.
func (h Task) Holder() string { return h.holder }

// StartedID is the id of the event by which the worker got the task.
func (h Task) StartedID() int64 { return h.started }

// TimedOut reports whether Temporal should have taken the task back before a moment.
func (h Task) TimedOut(before time.Time) bool {
	return h.startedAt.Add(h.timeout).Before(before)
}

// Find returns the held task of a run. held is false if no worker holds one. It reads the
// history of the run.
func (h *Holds) Find(ctx context.Context, workflowID, runID string) (task Task, held bool, err error) {
	task = Task{workflowID: workflowID, runID: runID}
	err = h.kernel.EachEvent(ctx, workflowID, runID, func(event *historypb.HistoryEvent) {
		task.events = append(task.events, event)
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
			scheduled := event.GetWorkflowTaskScheduledEventAttributes()
			task.scheduled, task.version, held = event.GetEventId(), event.GetVersion(), false
			task.attempt, task.timeout = int64(scheduled.GetAttempt()), scheduled.GetStartToCloseTimeout().AsDuration()
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			task.started, task.startedAt, held = event.GetEventId(), event.GetEventTime().AsTime(), true
			task.holder = identity.Process(event.GetWorkflowTaskStartedEventAttributes().GetIdentity())
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			held = false
		default:
		}
	})
	return task, held, err
}

// Free takes a task from its worker. freed is false if it was too late, because the worker
// or another call has ended the task, or if the server uses another form of token.
func (h *Holds) Free(ctx context.Context, task Task) (freed bool, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	namespaceID, err := h.id(ctx)
	if err != nil {
		return false, err
	}
	_, err = h.kernel.Client.WorkflowService().RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{
		Namespace: h.kernel.Namespace, TaskToken: task.token(namespaceID),
		// With any other cause the next task counts as a second attempt, and the history
		// does not name its holder.
		Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
	})
	if refused(err) {
		return false, nil
	}
	return err == nil, kernel.Translate(err)
}

// refused reports whether the end of a task changed nothing: the task has ended, the server does not
// know the token, or, of a task that is taken, the run is paused or no worker has room.
func refused(err error) bool {
	return errtype.Is[*serviceerror.NotFound](err) || errtype.Is[*serviceerror.InvalidArgument](err) ||
		errtype.Is[*serviceerror.FailedPrecondition](err)
}

// id is the id of the namespace, which does not change.
func (h *Holds) id(ctx context.Context) (string, error) {
	if known := h.namespaceID.Load(); known != nil {
		return *known, nil
	}
	described, err := h.kernel.Client.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: h.kernel.Namespace})
	if err != nil {
		return "", kernel.Translate(err)
	}
	id := described.GetNamespaceInfo().GetId()
	h.namespaceID.Store(&id)
	return id, nil
}
