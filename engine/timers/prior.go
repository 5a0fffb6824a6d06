package timers

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// priorOf is the last report before an activity that no worker has reported on yet: its input
// has it. ok is false if there is none, or if it cannot be read.
func (r *Reader) priorOf(ctx context.Context, view *timer.View, pending *workflowpb.PendingActivityInfo) (report delivery.Report, ok bool) {
	if pending.GetAttempt() > 1 {
		return report, false
	}
	history, err := r.kernel.Client.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx,
		&workflowservice.GetWorkflowExecutionHistoryReverseRequest{
			Namespace: r.kernel.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: view.String(), RunId: view.RunID},
			MaximumPageSize: tuning.PriorEvents,
		})
	if err != nil {
		return report, false
	}
	for _, event := range history.GetHistory().GetEvents() {
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		if scheduled.GetActivityType().GetName() != workflows.ActivityDeliver || len(scheduled.GetInput().GetPayloads()) == 0 {
			continue
		}
		var given timer.Delivery
		if kernel.Payloads.FromPayload(scheduled.GetInput().GetPayloads()[0], &given) == nil && given.Prior != nil {
			return *given.Prior, true
		}
		return report, false
	}
	return report, false
}
