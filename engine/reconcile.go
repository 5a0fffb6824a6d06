package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// maxRound bounds how many timers one round looks at. What is left is looked at
// in the next one.
const maxRound = 1000

// Reconcile finds open timers that are later than slack with nothing under way
// for them, and wakes them: Temporal can lose the timer of a workflow without a
// word (temporal#11869). A timer that is wrongly taken for one does not ring
// twice; its workflow looks at the clock and at what was done. It returns how
// many it woke, by business type, also with an error.
func (e *Engine) Reconcile(ctx context.Context, slack time.Duration) (map[string]int, error) {
	round := round{engine: e, before: time.Now().Add(-slack), woken: map[string]int{}, backlog: map[string]bool{}}
	state := workflows.AttrState.GetName()
	waiting := round.look(ctx, fmt.Sprintf("%s IS NULL", state))
	retrying := round.look(ctx, fmt.Sprintf("%s = '%s'", state, timer.Delivering))
	return round.woken, errors.Join(waiting, retrying)
}

// round is one look at the timers that should have rung.
type round struct {
	engine *Engine
	before time.Time
	woken  map[string]int
	// backlog is whether a business type's queue has attempts that wait for
	// their turn, which is no fault.
	backlog map[string]bool
}

func (r *round) look(ctx context.Context, clause string) error {
	response, err := r.engine.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: r.engine.Namespace, PageSize: maxRound,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND ExecutionTime < '%s' AND %s",
			workflows.TypeTimer, timer.At(r.before), clause),
	})
	if err != nil {
		return translate(err)
	}
	for _, info := range response.GetExecutions() {
		if key, ok := timer.ParseKey(info.GetExecution().GetWorkflowId()); ok {
			if err := r.check(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// check wakes a timer if nothing is under way for it.
func (r *round) check(ctx context.Context, key timer.Key) error {
	call, cancel := bounded(ctx)
	defer cancel()
	described, err := r.engine.Client.DescribeWorkflowExecution(call, key.String(), "")
	if err != nil {
		return translate(err)
	}
	info := described.GetWorkflowExecutionInfo()
	if !running(info) || described.GetPendingWorkflowTask() != nil || info.GetExecutionTime().AsTime().After(r.before) {
		return nil
	}
	for _, pending := range described.GetPendingActivities() {
		stuck, err := r.stuck(call, key, pending)
		if err != nil || !stuck {
			return err
		}
	}
	view, err := r.engine.view(call, info)
	if err != nil {
		return err
	}
	return r.wake(call, timer.Spec{Key: key, Card: view.Card})
}

// stuck is whether an attempt should have been made and does not even wait for
// its turn.
func (r *round) stuck(ctx context.Context, key timer.Key, pending *workflowpb.PendingActivityInfo) (bool, error) {
	since := nextAttempt(pending).Time()
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || since.After(r.before) {
		return false, nil
	}
	waits, known := r.backlog[key.BusinessType]
	if !known {
		var err error
		if waits, err = r.engine.backlogged(ctx, key.BusinessType); err != nil {
			return false, err
		}
		r.backlog[key.BusinessType] = waits
	}
	return !waits, nil
}

// wake gives a timer's workflow a task. It asks for no change.
func (r *round) wake(ctx context.Context, spec timer.Spec) error {
	change := timer.Change{ID: uuid.NewString(), Wake: true, At: timer.At(time.Now())}
	_, err := r.engine.signal(ctx, spec, change, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	switch {
	case is[*serviceerror.WorkflowExecutionAlreadyStarted](err): // it has ended since
		return nil
	case err != nil:
		return translate(err)
	}
	r.woken[spec.BusinessType]++
	return nil
}

// backlogged is whether attempts of a business type wait for a worker, a pause
// or a limit.
func (e *Engine) backlogged(ctx context.Context, businessType string) (bool, error) {
	policy, err := e.Policy(ctx, businessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return false, err
	}
	if policy.Rate(time.Now()) != nil {
		return true, nil
	}
	queue := workflows.UngovernedQueue
	if policy.Version != 0 {
		queue = workflows.DeliveryQueue(businessType)
	}
	described, err := e.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: e.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, ReportStats: true,
	})
	if err != nil {
		return false, translate(err)
	}
	return described.GetStats().GetApproximateBacklogCount() > 0 || len(described.GetPollers()) == 0, nil
}

// Alert raises an event that no workflow raises. The same occasion raises one
// alert, whoever asks. A business type that wants no alerts gets none. Its error
// is [timer.Unavailable].
func (e *Engine) Alert(ctx context.Context, event timer.Event, occasion string) error {
	policy, err := e.Policy(ctx, event.Data.BusinessType)
	if timer.CodeOf(err) == timer.NotFound || (err == nil && policy.Alert == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err = e.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.AlertID(event.Type, event.Data.BusinessType+":"+occasion), TaskQueue: workflows.TaskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         string(event.Type) + " of " + event.Data.BusinessType,
	}, workflows.TypeAlert, event)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return nil
	}
	return translate(err)
}
