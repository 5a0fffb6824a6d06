package engine

import (
	"context"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Effect is what became of a change by the time the caller's wait was over.
type Effect string

// The closed list of effects.
const (
	// Created: there was no timer, and now there is.
	Created Effect = "created"
	// Done: the change took effect.
	Done Effect = "done"
	// Pending: the change is durable and will be applied before any callback,
	// but no worker has applied it yet.
	Pending Effect = "pending"
)

const (
	// DefaultWait is how long a caller waits for an effect.
	DefaultWait = 2 * time.Second
	// MaxWait bounds what a caller may ask for.
	MaxWait = 30 * time.Second
)

// ending is how one run of a timer closed.
type ending struct {
	how  outcome
	next string // the run that it continued as
}

type outcome string

const (
	endedOpen      outcome = "" // it did not close in time
	endedContinued outcome = "continued"
	endedCancelled outcome = "cancelled"
	endedFinished  outcome = "finished" // delivered, failed or expired
)

// awaitEnd waits for the run to close. Every change and every cancel ends the
// run it reaches, so the way a run closed tells what became of it.
func (t *Timers) awaitEnd(ctx context.Context, key wire.Key, runID string) (ending, error) {
	history := t.client.GetWorkflowHistory(ctx, key.String(), runID, true,
		enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	event, err := history.Next()
	if err != nil {
		if expired(ctx, err) {
			return ending{}, nil
		}
		return ending{}, translate(err)
	}
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		next := event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		return ending{how: endedContinued, next: next}, nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		return ending{how: endedCancelled}, nil
	default:
		return ending{how: endedFinished}, nil
	}
}

// signal hands a change to the timer's workflow, or starts it. Unlike a plain
// signal it wakes a workflow that is still in its start delay.
func (t *Timers) signal(
	ctx context.Context, spec timer.Spec, change timer.Change, reuse enumspb.WorkflowIdReusePolicy,
) (runID string, err error) {
	options := startOptions(spec)
	options.WorkflowIDReusePolicy = reuse
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED // SignalWithStart has its own
	run, err := t.client.SignalWithStartWorkflow(ctx, options.ID, workflows.SignalChange, change, options,
		workflows.TypeTimer, spec, workflows.Encode(change.Terms.Payload))
	if err != nil {
		return "", err
	}
	return run.GetRunID(), nil
}

// refusedBy answers a change that Temporal did not take.
func (t *Timers) refusedBy(ctx context.Context, key wire.Key, err error) (timer.View, Effect, error) {
	if !errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return timer.View{}, "", translate(err)
	}
	view, err := t.Get(ctx, key)
	if err != nil {
		return timer.View{}, "", err
	}
	return timer.View{}, "", finished(view)
}

// sent is a change that Temporal has taken.
type sent struct {
	key    wire.Key
	runID  string
	change string
}

// settle waits for what becomes of a change.
func (t *Timers) settle(ctx context.Context, s sent, wait time.Duration) (timer.View, Effect, error) {
	waiting, cancel := t.waiting(ctx, wait)
	defer cancel()
	end, err := t.awaitEnd(waiting, s.key, s.runID)
	if err != nil {
		return timer.View{}, "", err
	}
	switch end.how {
	case endedOpen:
		view, err := t.Get(ctx, s.key)
		if err == nil && view.CancelRequested {
			return timer.View{}, "", cancelPending(view)
		}
		view.PendingChange = s.change
		return view, Pending, err
	case endedContinued:
		return t.applied(ctx, s, end.next)
	default:
		view, err := t.run(ctx, s.key, s.runID)
		if err == nil {
			err = finished(view)
		}
		return timer.View{}, "", err
	}
}

// applied tells what became of a change that the run next began with.
func (t *Timers) applied(ctx context.Context, s sent, next string) (timer.View, Effect, error) {
	began, err := t.run(ctx, s.key, next)
	if err != nil {
		return timer.View{}, "", err
	}
	view, err := t.Get(ctx, s.key)
	if err != nil {
		return timer.View{}, "", err
	}
	if refusal, refused := began.Memo.Refusals.Find(s.change); refused {
		if refusal.Unmet() {
			return timer.View{}, "", timer.Unmet(&view)
		}
		return timer.View{}, "", &wire.Error{
			Code: wire.Overtaken, State: &view, FieldErrors: refusal.FieldErrors,
			Message: "Another change came first, and this one does not fit the timer as it is now.",
		}
	}
	return view, Done, nil
}

// settled is whether a run is open, and no worker has anything to apply to it: what is
// shown of it is what it will be. A worker that is about to have done so is waited for.
func (t *Timers) settled(ctx context.Context, view timer.View) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	patience := time.After(tuning.SettledWait)
	for {
		described, err := t.describe(ctx, view.String(), view.RunID)
		if err != nil || !running(described.GetWorkflowExecutionInfo()) {
			return false, err
		}
		if described.GetPendingWorkflowTask() == nil {
			return !applying(described), nil
		}
		select {
		case <-time.After(tuning.TaskPoll):
		case <-patience:
			return false, nil
		}
	}
}

// applying is whether a run has heard of a change that it has not applied yet: it waits for
// the attempt that it has called off, or for the receipt of one.
func applying(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return slices.ContainsFunc(described.GetPendingActivities(), func(a *workflowpb.PendingActivityInfo) bool {
		return a.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED || a.GetActivityType().GetName() == workflows.ActivityAsk
	})
}
