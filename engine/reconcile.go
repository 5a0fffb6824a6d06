package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	timerate "golang.org/x/time/rate"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// ReconcileWaiting looks at the open timers that are later than slack and were
// never tried, and wakes those with nothing under way for them: Temporal can
// lose the timer of a workflow without a word (temporal#11869). A timer that is
// wrongly taken for one does not ring twice; its workflow looks at the clock and
// at what was done. Its error is [timer.Unavailable], beside what was done.
func (e *Engine) ReconcileWaiting(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return e.untried.round(ctx, slack, workflows.AttrState.GetName()+" IS NULL")
}

// ReconcileRetrying does the same for timers whose retry is later than slack. It may
// run beside [Engine.ReconcileWaiting], whose few do not wait behind a crowd of retries.
func (e *Engine) ReconcileRetrying(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return e.retried.round(ctx, slack, fmt.Sprintf("%s = '%s'", workflows.AttrState.GetName(), timer.Delivering))
}

const (
	// lookedAt is how many runs a process looks at in a second: each look is one
	// call of Temporal.
	lookedAt = 200
	// maxUnanswered is how many looks in a row may remain without an answer: then
	// it is Temporal that is out of order, and no single run.
	maxUnanswered = 20
)

// reconciler looks for the lost among the timers in one state. Its rounds come one
// after another.
type reconciler struct {
	engine *Engine
	pace   *timerate.Limiter
	known  *respites
}

func newReconciler(e *Engine, pace *timerate.Limiter) *reconciler {
	return &reconciler{engine: e, pace: pace, known: &respites{}}
}

// round is one look at all the timers that should have rung.
type round struct {
	*reconciler
	before, began time.Time
	slack         time.Duration
	result        timer.Reconciliation
	// backlog is whether a business type's queue has attempts that wait for
	// their turn, which is no defect.
	backlog map[string]bool
	// unanswered counts the looks in a row that Temporal did not answer.
	unanswered int
}

// round goes through every page: the lost may be on the last one.
func (r *reconciler) round(ctx context.Context, slack time.Duration, clause string) (timer.Reconciliation, error) {
	began := time.Now()
	look := &round{
		reconciler: r, began: began, before: began.Add(-slack), slack: slack, backlog: map[string]bool{},
		result: timer.Reconciliation{Woken: map[string]int{}, Passed: map[string]error{}},
	}
	r.known.forget(began)
	err := look.all(ctx, fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND ExecutionTime < '%s' AND %s",
		workflows.TypeTimer, timer.At(look.before), clause))
	return look.result, err
}

func (r *round) all(ctx context.Context, query string) error {
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		response, err := r.engine.listed(ctx, query, token)
		if err != nil {
			return err
		}
		if err := r.page(ctx, response.GetExecutions()); err != nil {
			return err
		}
		token = response.GetNextPageToken()
	}
	return nil
}

// listed reads one page of what a query selects.
func (e *Engine) listed(ctx context.Context, query string, token []byte) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := e.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: e.Namespace, PageSize: maxListed, Query: query, NextPageToken: token,
	})
	return response, translate(err)
}

// page looks at the runs of one page. One that cannot be looked at is passed over.
func (r *round) page(ctx context.Context, page []*workflowpb.WorkflowExecutionInfo) error {
	for _, info := range page {
		key, ok := timer.ParseKey(info.GetExecution().GetWorkflowId())
		if !ok || r.known.has(info.GetExecution().GetRunId(), r.began) {
			continue
		}
		if err := r.pace.Wait(ctx); err != nil {
			return translate(err)
		}
		if err := r.note(key, r.check(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

// note keeps why a timer was passed over. Its error ends the round.
func (r *round) note(key timer.Key, err error) error {
	if err == nil {
		r.unanswered = 0
		return nil
	}
	r.result.Passed[key.String()] = err
	if timer.CodeOf(err) == timer.Unavailable {
		r.unanswered++
	}
	if r.unanswered >= maxUnanswered {
		return err
	}
	return nil
}

// check wakes a timer if nothing is under way for it.
func (r *round) check(ctx context.Context, key timer.Key) error {
	call, cancel := bounded(ctx)
	defer cancel()
	described, err := r.engine.Client.DescribeWorkflowExecution(call, key.String(), "")
	if is[*serviceerror.NotFound](err) { // deleted since
		return nil
	}
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
			r.known.keep(info.GetExecution().GetRunId(), nextAttempt(pending).Time().Add(r.slack), r.began)
			return err
		}
	}
	view, err := r.engine.view(call, info)
	if err != nil {
		return err
	}
	return r.wake(call, timer.Spec{Key: key, Memo: view.Memo})
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
	r.result.Woken[spec.BusinessType]++
	return nil
}

// backlogged is whether attempts of a business type wait for a worker, a pause
// or a limit.
func (e *Engine) backlogged(ctx context.Context, businessType string) (bool, error) {
	policy, err := e.policies.get(ctx, businessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return false, err
	}
	if policy.Rate(time.Now()) != nil {
		return true, nil
	}
	queue := workflows.DefaultDeliveryQueue
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
	policy, err := e.policies.get(ctx, event.Data.BusinessType)
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
