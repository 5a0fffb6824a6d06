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

// Worker acts as the workers of a namespace in memory: it ends timers, holds their tasks, and
// applies changes.
type Worker struct{ On *Temporal }

// State sets the state of a timer, as its workflow does.
func (w Worker) State(tb testing.TB, id string, state timer.Status) {
	tb.Helper()
	w.Attribute(tb, id, workflows.AttrState.GetName(), string(state))
}

// Attribute sets a search attribute of the latest run of a workflow.
func (w Worker) Attribute(tb testing.TB, id, name string, value any) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	if err := w.On.latest(id, "").attribute(map[string]any{name: value}); err != nil {
		tb.Fatal(err)
	}
}

// Deliver ends a timer as delivered.
func (w Worker) Deliver(id string) {
	w.Close(id, timer.Outcome{Status: timer.Delivered, Attempts: 1, DeliveredAt: wire.At(time.Now())})
}

// Fail ends a timer as failed.
func (w Worker) Fail(id string) {
	w.Close(id, temporal.NewApplicationErrorWithOptions("given up", "failed", temporal.ApplicationErrorOptions{
		Details: []any{timer.Outcome{Status: timer.Failed, Attempts: 3}},
	}))
}

// Close ends the latest run of a workflow with a result, or with an error if it failed.
func (w Worker) Close(id string, result any) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	if err, failed := result.(error); failed {
		r.fail(err)
		return
	}
	r.result = result
	encoded, _ := Payloads.ToPayloads(result) // of a value that has none nothing is recorded
	r.complete(encoded)
}

// Cancel ends the latest run of a workflow as cancelled.
func (w Worker) Cancel(id string, details ...any) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").cancel(details...)
}

// Say sets a field in the memo of the latest run of a workflow.
func (w Worker) Say(tb testing.TB, id, field string, value any) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	if err := w.On.latest(id, "").memo(map[string]any{field: value}); err != nil {
		tb.Fatal(err)
	}
}

// Record appends an event to the history of the latest run of a workflow.
func (w Worker) Record(id string, kind enumspb.EventType, event *historypb.HistoryEvent) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").record(kind, event)
}

// Work starts a worker for signals to timers. A cancel ends the run. A change begins another run
// with the change applied. A change that does not fit is recorded as refused.
func (w Worker) Work(tb testing.TB) {
	w.On.OnEvent = func(id string, event *historypb.HistoryEvent) {
		var change timer.Change
		signal := event.GetWorkflowExecutionSignaledEventAttributes()
		switch {
		case !w.isTimer(id):
		case event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
			w.Cancel(id)
		case signal.GetSignalName() == workflows.SignalChange && Payloads.FromPayloads(signal.GetInput(), &change) == nil:
			w.Apply(tb, id, change)
		}
	}
}

// isTimer reports whether the workflow is an open timer. The worker handles no others.
func (w Worker) isTimer(id string) bool {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	return r.open() && r.info().GetType().GetName() == workflows.TypeTimer
}

// Apply applies changes in one task: the timer continues in another run.
func (w Worker) Apply(tb testing.TB, id string, changes ...timer.Change) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	if !r.open() {
		return // it has ended meanwhile
	}
	spec := w.spec(tb, r)
	var refused []timer.Refusal
	for _, change := range changes {
		if spec.Applied.Has(change.ID) {
			continue
		}
		next, err := spec.Apply(change)
		if err != nil {
			refused = append(refused, timer.RefusalOf(change, err))
			continue
		}
		spec = next
	}
	spec.Memo = spec.Refuse(refused)
	w.beginNext(tb, r, spec)
}

// Occur delivers the current occurrence of a recurring timer: the timer continues in another run.
func (w Worker) Occur(tb testing.TB, id string) {
	tb.Helper()
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	r := w.On.latest(id, "")
	spec := w.spec(tb, r)
	next, ok := spec.AfterOccurrence(spec.Key, timer.Outcome{Status: timer.Delivered, DeliveredAt: spec.DueAt, Attempts: 1}, spec.DueAt)
	if !ok {
		tb.Fatal("the rule has no further occurrence")
	}
	spec.Memo = next
	w.beginNext(tb, r, spec)
}

// spec reads the spec of a run from its memo. The caller holds the lock.
func (w Worker) spec(tb testing.TB, r *run) timer.Spec {
	tb.Helper()
	key, _ := wire.ParseKey(r.id())
	spec := timer.Spec{Key: key}
	if err := Payloads.FromPayload(r.info().GetMemo().GetFields()[workflows.MemoTimer], &spec.Memo); err != nil {
		tb.Fatal(err)
	}
	return spec
}

// beginNext continues a run as new. The caller holds the lock.
func (w Worker) beginNext(tb testing.TB, r *run, spec timer.Spec) {
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
	if due := spec.DueAt.Time(); due.After(time.Now()) {
		next.info().ExecutionTime = timestamppb.New(due)
	} else {
		next.schedule()
	}
	r.beginNext(next)
}

// Hold gives the task of a workflow to a worker, which holds it.
func (w Worker) Hold(id, worker string) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").hold(worker)
}

// Pend makes a workflow wait for activities.
func (w Worker) Pend(id string, activities ...*workflowpb.PendingActivityInfo) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").described.PendingActivities = activities
}

// Adopt makes a workflow a child of another one's latest run.
func (w Worker) Adopt(id, parent string) {
	w.On.mu.Lock()
	defer w.On.mu.Unlock()
	w.On.latest(id, "").info().ParentExecution = w.On.latest(parent, "").info().GetExecution()
}
