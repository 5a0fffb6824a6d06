package runs

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

var errTaskPending = errors.New("no worker has processed the latest events of the timer yet")

// Runs answers a worker's questions about a run that it delivers.
type Runs struct{ kernel *kernel.Kernel }

// New returns the runs of a namespace.
func New(k *kernel.Kernel) *Runs { return &Runs{kernel: k} }

// AwaitState reports whether a run still wants its next attempt, and how the last one
// went. The run must be open, and no cancel or change may have called the attempt off. An
// event that no worker has seen yet may do so, and is waited for. The errors are
// [wire.NotFound], [wire.Unavailable], and one for an event that no worker saw in time.
func (r *Runs) AwaitState(ctx context.Context, key wire.Key, runID string) (timer.RunState, error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.TaskWait)
	defer cancel()
	for {
		described, err := r.kernel.Describe(ctx, key.String(), runID)
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

// State is [Runs.AwaitState] without a wait, for the workflow that asks within its own
// task. The errors are [wire.NotFound] and [wire.Unavailable].
func (r *Runs) State(ctx context.Context, key wire.Key, runID string) (timer.RunState, error) {
	described, err := r.kernel.Describe(ctx, key.String(), runID)
	if err != nil {
		return timer.RunState{}, err
	}
	return stateIn(described), nil
}

// Record stores the progress of an activity's attempt, named by its token. The errors are
// [wire.NotFound] if another attempt may have the place of this one, and [wire.Unavailable].
func (r *Runs) Record(ctx context.Context, token []byte, progress any) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	err := r.kernel.Heartbeat(ctx, token, progress)
	if wire.CodeOf(err) == wire.Overtaken { // it is stored, and the SDK's next heartbeat stops the attempt
		return nil
	}
	return err
}

// LastHeartbeat is what the activity of a run has last reported, as JSON; null if it has
// reported nothing. The errors are [wire.NotFound] and [wire.Unavailable].
func (r *Runs) LastHeartbeat(ctx context.Context, workflowID, runID string) (jsontext.Value, error) {
	described, err := r.kernel.Describe(ctx, workflowID, runID)
	if err != nil {
		return nil, err
	}
	for _, pending := range described.GetPendingActivities() {
		var last jsontext.Value
		if kernel.Payloads.FromPayloads(pending.GetHeartbeatDetails(), &last) == nil && last != nil {
			return last, nil
		}
	}
	return jsontext.Value("null"), nil
}

func stateIn(described *workflowservice.DescribeWorkflowExecutionResponse) timer.RunState {
	status := described.GetWorkflowExecutionInfo().GetStatus()
	s := timer.RunState{Wanted: status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	for _, pending := range described.GetPendingActivities() {
		if pending.GetActivityType().GetName() == workflows.ActivityDeliver {
			s.Try = int(pending.GetAttempt())
		}
		if pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			s.Wanted = false
		}
		if report, ok := kernel.LastReport(pending); ok {
			s.Last = &report
		}
	}
	return s
}

// Revoked is why the worker that holds the task of a run must not make its attempt; "" if it
// may. Temporal sends the worker nothing while it has the task. The run may have ended, a
// cancel or a change may have been requested, and another worker may have the task now. The
// error is [wire.Unavailable].
func (r *Runs) Revoked(ctx context.Context, key wire.Key, hold timer.Hold) (delivery.Result, error) {
	described, err := r.kernel.Describe(ctx, key.String(), hold.RunID)
	if wire.CodeOf(err) == wire.NotFound {
		return delivery.ResultInterrupted, nil
	}
	if err != nil {
		return "", err
	}
	cancelled := described.GetWorkflowExtendedInfo().GetCancelRequested()
	switch {
	case !kernel.Running(described.GetWorkflowExecutionInfo()) || cancelled || kernel.ChangeMarked(described):
		return delivery.ResultInterrupted, nil
	case hold.Known() && !hasTask(hold, described.GetPendingWorkflowTask()):
		return delivery.ResultWorkerStopping, nil
	default:
		return "", nil
	}
}

// hasTask reports whether the pending task is the held one.
func hasTask(hold timer.Hold, pending *workflowpb.PendingWorkflowTaskInfo) bool {
	return hold.Has(int(pending.GetAttempt()), pending.GetStartedTime().AsTime())
}

// Cause returns the reason given with a run's cancel; "" without a cancel or a reason. The
// error is [wire.Unavailable].
func (r *Runs) Cause(ctx context.Context, key wire.Key, runID string) (cause string, err error) {
	err = r.kernel.EachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED {
			cause = event.GetWorkflowExecutionCancelRequestedEventAttributes().GetCause()
		}
	})
	return cause, err
}

// StoreReceipt sends a run the report of its first attempt, for the next worker with its
// task. The error is that of the signal.
func (r *Runs) StoreReceipt(ctx context.Context, workflowID, runID string, report delivery.Report) error {
	return r.kernel.Client.SignalWorkflow(ctx, workflowID, runID, workflows.SignalReceipt, report)
}

// Holder returns the identity of the worker that had the first workflow task of a run before
// it was handed out again; "" if there was none. It reads the run's history, still short at
// that point. The error is [wire.Unavailable].
func (r *Runs) Holder(ctx context.Context, key wire.Key, runID string) (worker string, err error) {
	var last string
	err = r.kernel.EachEvent(ctx, key.String(), runID, func(event *historypb.HistoryEvent) {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			last = identity.Process(event.GetWorkflowTaskStartedEventAttributes().GetIdentity())
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			worker = last
		default:
		}
	})
	return worker, err
}
