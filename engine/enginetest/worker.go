package enginetest

import (
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// Worker plays the part of the workers of a namespace in memory: it ends timers, holds their
// tasks, and applies changes.
type Worker struct{ On *Temporal }

// State sets the state of a timer, as its workflow does.
func (w Worker) State(tb testing.TB, id string, state timer.Status) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	if err := w.On.latest(id, "").attribute(map[string]any{workflows.AttrState.GetName(): string(state)}); err != nil {
		tb.Fatal(err)
	}
}

// Deliver ends a timer as a worker does that has delivered it.
func (w Worker) Deliver(id string) {
	w.Close(id, timer.Outcome{Status: timer.Delivered, Attempts: 1, DeliveredAt: wire.At(time.Now())})
}

// Fail ends a timer as a worker does that has given it up.
func (w Worker) Fail(id string) {
	w.Close(id, temporal.NewApplicationErrorWithOptions("given up", "failed", temporal.ApplicationErrorOptions{
		Details: []any{timer.Outcome{Status: timer.Failed, Attempts: 3}},
	}))
}

// Close ends the latest run of a workflow with a result, which is an error where it failed.
func (w Worker) Close(id string, result any) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	r.result = result
	if _, failed := result.(error); failed {
		r.end(enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, &historypb.HistoryEvent{})
		return
	}
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, &historypb.HistoryEvent{})
}

// Work has a worker carry out what is asked of timers: a cancel ends the run, and a change begins
// another one, as it is applied. One that does not fit is recorded as refused.
func (w Worker) Work(tb testing.TB) {
	w.On.OnEvent = func(id string, event *historypb.HistoryEvent) {
		var change timer.Change
		signal := event.GetWorkflowExecutionSignaledEventAttributes()
		switch {
		case !w.isTimer(id):
		case event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
			w.cancelled(id)
		case signal.GetSignalName() == workflows.SignalChange && Payloads.FromPayloads(signal.GetInput(), &change) == nil:
			w.Apply(tb, id, change)
		}
	}
}

// isTimer reports whether the workflow is a timer: no worker of ours has another one.
func (w Worker) isTimer(id string) bool {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	return w.On.latest(id, "").info().GetType().GetName() == workflows.TypeTimer
}

func (w Worker) cancelled(id string) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	if !r.open() {
		return
	}
	r.result = temporal.NewCanceledError()
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, &historypb.HistoryEvent{})
}

// Apply has a worker apply changes in one task: the timer goes on in another run.
func (w Worker) Apply(tb testing.TB, id string, changes ...timer.Change) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	if !r.open() {
		return // it has ended meanwhile
	}
	key, _ := wire.ParseKey(id)
	spec := timer.Spec{Key: key}
	if err := Payloads.FromPayload(r.info().GetMemo().GetFields()[workflows.MemoTimer], &spec.Memo); err != nil {
		tb.Fatal(err)
	}
	var refused []timer.Refusal
	for _, change := range changes {
		next, err := spec.Apply(change)
		if err != nil {
			refused = append(refused, timer.RefusalOf(change, err))
			continue
		}
		spec = next
	}
	spec.Memo = spec.Refuse(refused)
	w.goOn(tb, r, spec)
}

// goOn continues a run as new. The caller holds the lock.
func (w Worker) goOn(tb testing.TB, r *run, spec timer.Spec) {
	tb.Helper()
	input, err := Payloads.ToPayloads(spec, workflows.Encode(nil))
	if err != nil {
		tb.Fatal(err)
	}
	next := w.On.begin(r.id(), workflows.TypeTimer, r.info().GetFirstRunId(), input)
	if err := next.memo(map[string]any{workflows.MemoTimer: spec.Memo}); err != nil {
		tb.Fatal(err)
	}
	if err := next.attribute(r.attributes); err != nil {
		tb.Fatal(err)
	}
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{NewExecutionRunId: next.runID()},
		},
	})
}

// Hold has a worker take the task of a workflow, and hold it.
func (w Worker) Hold(id, worker string) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	r.described.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{
		State: enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED, StartedTime: timestamppb.New(time.Now()), Attempt: 1,
	}
	r.record(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: worker},
		},
	})
}

// Pend has a workflow wait for activities.
func (w Worker) Pend(id string, activities ...*workflowpb.PendingActivityInfo) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").described.PendingActivities = activities
}
