package engine

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Get returns a timer as it stands. It needs no worker. Its errors are
// [timer.NotFound] and [timer.Unavailable].
func (e *Engine) Get(ctx context.Context, key timer.Key) (timer.View, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	view, err := e.get(ctx, key)
	if err != nil {
		return timer.View{}, err
	}
	return view, e.showCall(ctx, &view)
}

// showCall adds where and how the receiver is called, from what the run began
// with and the policy as it is now.
func (e *Engine) showCall(ctx context.Context, view *timer.View) error {
	spec, _, err := e.input(ctx, view.Key, view.RunID)
	if err != nil {
		return err
	}
	policy, err := e.policies.get(ctx, view.BusinessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return err
	}
	callback, retry := spec.Call(policy.WithDefaults())
	view.Retry = &retry
	if callback.URL != "" {
		callback = callback.Masked()
		view.Callback = &callback
	}
	return nil
}

func (e *Engine) get(ctx context.Context, key timer.Key) (timer.View, error) {
	return e.getRun(ctx, key, "")
}

// run returns a timer as one of its runs shows it.
func (e *Engine) run(ctx context.Context, key timer.Key, runID string) (timer.View, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return e.getRun(ctx, key, runID)
}

// getRun returns a timer as one of its runs shows it; "" is the latest.
func (e *Engine) getRun(ctx context.Context, key timer.Key, runID string) (timer.View, error) {
	described, err := e.Client.DescribeWorkflowExecution(ctx, key.String(), runID)
	if err != nil {
		return timer.View{}, translate(err)
	}
	info := described.GetWorkflowExecutionInfo()
	view, err := e.view(ctx, info)
	if err != nil {
		return timer.View{}, err
	}
	view.FirstRunID = info.GetFirstRunId()
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		showOpen(&view, described)
		e.showNext(ctx, &view)
		return view, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: // the timer goes on in another run
		return view, nil
	default:
		return view, e.showClosed(ctx, &view)
	}
}

// view is what can be told from a workflow's info, be it described or listed.
func (e *Engine) view(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (timer.View, error) {
	key, ok := timer.ParseKey(info.GetExecution().GetWorkflowId())
	if !ok || info.GetType().GetName() != workflows.TypeTimer {
		return timer.View{}, &timer.Error{Code: timer.NotFound, Message: "There is no such timer.", Cause: errForeign}
	}
	var memo timer.Memo
	if err := payloads.FromPayload(info.GetMemo().GetFields()[workflows.MemoTimer], &memo); err != nil {
		return timer.View{}, &timer.Error{Code: timer.Internal, Message: "The timer's memo cannot be read.", Cause: err}
	}
	view := e.show(ctx, timer.Spec{Key: key, Memo: memo}, info.GetExecution().GetRunId())
	view.Status = statusOf(info, memo)
	return view, nil
}

// booked is the view of a timer that has just been started.
func (e *Engine) booked(ctx context.Context, spec timer.Spec, runID string) timer.View {
	view := e.show(ctx, spec, runID)
	view.FirstRunID = runID
	return view
}

// show is the view of a timer as far as its memo tells.
func (e *Engine) show(ctx context.Context, spec timer.Spec, runID string) timer.View {
	view := timer.View{
		Key: spec.Key, Memo: spec.Memo,
		Status:    timer.Scheduled,
		DueAt:     spec.DueAt,
		LatestAt:  spec.Latest(e.defaultExpiry(ctx, spec.BusinessType)),
		Revision:  spec.Revision,
		WebhookID: spec.WebhookID(),
		Priority:  spec.Priority,
		CreatedAt: spec.CreatedAt,
		RunID:     runID,

		RefusedChanges: spec.Refusals,
		Links:          timer.Links{WebUI: e.webUI(spec.Key, runID)},
	}
	if spec.Series != nil {
		view.Recurrence, view.Occurrence = &spec.Series.Rule, spec.Series.Number
		view.Note, view.LastOccurrence = spec.Series.Note, spec.Series.Last
	}
	if spec.Resting() {
		view.Status = timer.Paused
	}
	return view
}

// defaultExpiry is the policy's, or none where it cannot be told.
func (e *Engine) defaultExpiry(ctx context.Context, businessType string) timer.Duration {
	policy, err := e.policies.get(ctx, businessType)
	if err != nil {
		return 0
	}
	return policy.ExpiresAfter
}

// statusOf tells the status as far as Temporal's own status and our state
// attribute do.
func statusOf(info *workflowpb.WorkflowExecutionInfo, memo timer.Memo) timer.Status {
	state := stateOf(info.GetSearchAttributes())
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		switch {
		case state == timer.Delivering:
			return timer.Delivering
		case memo.Resting():
			return timer.Paused
		}
		return timer.Scheduled
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		if state == timer.Expired {
			return timer.Expired
		}
		return timer.Delivered
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return timer.Cancelled
	default:
		return timer.Failed
	}
}

func stateOf(attributes *commonpb.SearchAttributes) (state timer.Status) {
	field, ok := attributes.GetIndexedFields()[workflows.AttrState.GetName()]
	if !ok || payloads.FromPayload(field, &state) != nil {
		return ""
	}
	return state
}

// showOpen adds what the pending work of an open timer tells.
func showOpen(view *timer.View, described *workflowservice.DescribeWorkflowExecutionResponse) {
	if withWorker(described) && view.Memo.RingsAt().Until(time.Now()) <= 0 && view.Status == timer.Scheduled {
		view.Status = timer.Delivering
	}
	for _, pending := range described.GetPendingActivities() {
		view.Status = timer.Delivering
		waits := pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
		view.Attempts = 1
		if report, ok := recordedIn(pending); ok {
			view.LastFailure, view.LatenessMS, view.Attempts = report.Failure, report.LatenessMS, report.Attempt+1
		}
		if waits { // the one that is scheduled has not been made yet
			view.Attempts--
			view.NextAttemptAt = nextAttempt(pending)
		}
	}
}

// showNext corrects the time of the next attempt by what comes in between: the
// type's back-pressure, and the latest time.
func (e *Engine) showNext(ctx context.Context, view *timer.View) {
	if view.NextAttemptAt == 0 {
		return
	}
	if policy, err := e.Policy(ctx, view.BusinessType); err == nil {
		if until, held := policy.HeldBack(time.Now()); held {
			view.NextAttemptAt = max(view.NextAttemptAt, until)
		}
	}
	if view.LatestAt != 0 && view.NextAttemptAt >= view.LatestAt {
		view.NextAttemptAt = 0
	}
}

// nextAttempt is when a backoff ends, or since when an attempt waits for a worker.
func nextAttempt(pending *workflowpb.PendingActivityInfo) timer.Instant {
	if next := pending.GetNextAttemptScheduleTime(); next != nil {
		return timer.At(next.AsTime())
	}
	return timer.At(pending.GetScheduledTime().AsTime())
}

// showClosed adds how a timer ended, from the last event of its history.
func (e *Engine) showClosed(ctx context.Context, view *timer.View) error {
	if view.Status == timer.Cancelled {
		return nil
	}
	var outcome timer.Outcome
	run := e.Client.GetWorkflow(ctx, view.String(), view.RunID)
	err := run.GetWithOptions(ctx, &outcome, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	if ended, ok := outcomeIn(err); ok {
		outcome, err = ended, nil
	}
	if err != nil && view.Status == timer.Failed {
		// Timed out or failed by the engine itself, without an outcome of ours.
		failure := &timer.Failure{Message: "ended by the engine"}
		outcome, err = timer.Outcome{Status: timer.Failed, LastFailure: failure}, nil
	}
	if err != nil {
		return translate(err)
	}
	view.Status, view.Attempts = outcome.Status, outcome.Attempts
	view.DeliveredAt, view.LatenessMS, view.LastFailure = outcome.DeliveredAt, outcome.LatenessMS, outcome.LastFailure
	return nil
}

func outcomeIn(err error) (outcome timer.Outcome, ok bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !app.HasDetails() || app.Details(&outcome) != nil {
		return timer.Outcome{}, false
	}
	return outcome, outcome.Status != ""
}
