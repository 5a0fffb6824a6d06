package engine

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// view is what can be told from a workflow's info, be it described or listed.
func (t *Timers) view(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (timer.View, error) {
	key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId())
	if !ok || info.GetType().GetName() != workflows.TypeTimer {
		return timer.View{}, &wire.Error{Code: wire.NotFound, Message: "There is no such timer.", Cause: errForeign}
	}
	var memo timer.Memo
	if err := readMemo(info, workflows.MemoTimer, "timer", &memo); err != nil {
		return timer.View{}, err
	}
	view := t.show(ctx, timer.Spec{Key: key, Memo: memo}, info.GetExecution().GetRunId())
	view.Status = statusOf(info, memo)
	return view, nil
}

// booked is the view of a timer that has just been started, as a get would show it.
func (t *Timers) booked(ctx context.Context, spec timer.Spec, runID string) timer.View {
	view := t.show(ctx, spec, runID)
	view.FirstRunID = runID
	policy, _ := t.policies.cached(ctx, spec.BusinessType) // a moment ago it was read, or there was none
	view.ShowCall(spec, policy)
	return view
}

// show is the view of a timer as far as its memo tells.
func (t *Timers) show(ctx context.Context, spec timer.Spec, runID string) timer.View {
	view := timer.View{
		Key: spec.Key, Memo: spec.Memo,
		Status:    timer.Scheduled,
		DueAt:     spec.DueAt,
		LatestAt:  spec.Latest(t.defaultExpiry(ctx, spec.BusinessType)),
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
		Links:          timer.Links{WebUI: t.link(spec.String(), runID)},
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

// defaultExpiry is the policy's, or none where it cannot be told.
func (t *Timers) defaultExpiry(ctx context.Context, businessType string) wire.Duration {
	policy, err := t.policies.cached(ctx, businessType)
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
