package timers

import (
	"context"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// View is the timer as far as a workflow's info shows it, described or listed.
func (r *Reader) View(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (timer.View, error) {
	key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId())
	if !ok || info.GetType().GetName() != workflows.TypeTimer {
		return timer.View{}, &wire.Error{Code: wire.NotFound, Message: "There is no such timer.", Cause: ErrForeign}
	}
	var memo timer.Memo
	if err := kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo); err != nil {
		return timer.View{}, err
	}
	view := r.viewOf(ctx, timer.Spec{Key: key, Memo: memo}, info.GetExecution().GetRunId())
	view.Status = statusOf(info, memo)
	return view, nil
}

// Started is the view of a timer that has just been started, as a get would show it.
func (r *Reader) Started(ctx context.Context, spec timer.Spec, payload converter.RawValue, runID string) timer.View {
	view := r.viewOf(ctx, spec, runID)
	view.FirstRunID = runID
	policy, _ := r.policies.Cached(ctx, spec.BusinessType) // it was read a moment ago, or there was none
	view.ShowCall(spec, payload.Payload().GetData(), policy)
	return view
}

// viewOf is the view of a timer as far as its memo shows it.
func (r *Reader) viewOf(ctx context.Context, spec timer.Spec, runID string) timer.View {
	view := timer.View{
		Key: spec.Key, Memo: spec.Memo,
		Status:    timer.Scheduled,
		DueAt:     spec.DueAt,
		LatestAt:  spec.Latest(r.defaultExpiry(ctx, spec.BusinessType)),
		RingBy:    spec.Debounce.RingBy(),
		Revision:  spec.Revision,
		Round:     spec.Round + 1,
		WebhookID: spec.WebhookID(),
		Priority:  spec.Priority,
		Labels:    spec.Labels,
		CreatedAt: spec.CreatedAt,
		UpdatedAt: max(spec.UpdatedAt, spec.CreatedAt),
		RunID:     runID,

		RefusedChanges: spec.Refusals.Latest(),
		Links:          timer.Links{WebUI: r.kernel.Link(spec.String(), runID)},
	}
	view.Note = spec.Note
	if spec.Series != nil {
		rule := spec.Series.Rule
		rule.Paused = spec.Series.Paused // the rule says how it was booked
		view.Recurrence, view.Occurrence = &rule, spec.Series.Number
		view.Note, view.LastOccurrence = spec.Series.Note, spec.Series.Last
	}
	if spec.Local != nil {
		view.DueLocal, view.Timezone = spec.Local.Due, spec.Local.Timezone
	}
	if spec.Resting() {
		view.Status = timer.Paused
	}
	return view
}

// defaultExpiry is the policy's, or none if that is unknown.
func (r *Reader) defaultExpiry(ctx context.Context, businessType string) wire.Duration {
	policy, err := r.policies.Cached(ctx, businessType)
	if err != nil {
		return 0
	}
	return policy.ExpiresAfter
}

// statusOf is the status as far as Temporal's own status and our state attribute show it.
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
	if !ok || kernel.Payloads.FromPayload(field, &state) != nil {
		return ""
	}
	return state
}

// ErrForeign is the error for an id of a workflow that is not a timer.
var ErrForeign = errors.New("the workflow is not a timer")

// CancelPendingError refuses a call after a cancel that no worker has carried out yet.
func CancelPendingError(view timer.View) error {
	return &wire.Error{
		Code: wire.CancelPending, State: &view,
		Message: "The timer is being cancelled. Repeat the request once it is cancelled.",
	}
}

// FinishedError is the error for a change of a timer that has ended.
func FinishedError(view timer.View) error {
	return &wire.Error{
		Code: wire.AlreadyFinished, State: &view,
		Message: "The timer is already " + string(view.Status) + ".",
	}
}
