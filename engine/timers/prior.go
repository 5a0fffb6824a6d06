package timers

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// showPrior adds the last attempt before the one of an activity that no worker has reported on
// yet. The activity's input has that report. What cannot be read is not shown.
func (r *Reader) showPrior(ctx context.Context, view *timer.View, waiting []*workflowpb.PendingActivityInfo) {
	if len(waiting) != 1 || waiting[0].GetAttempt() > 1 {
		return
	}
	if _, told := kernel.LastReport(waiting[0]); told {
		return
	}
	history, err := r.kernel.Client.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx,
		&workflowservice.GetWorkflowExecutionHistoryReverseRequest{
			Namespace: r.kernel.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: view.String(), RunId: view.RunID},
			MaximumPageSize: tuning.PriorEvents,
		})
	if err != nil {
		return
	}
	for _, event := range history.GetHistory().GetEvents() {
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		var given timer.Delivery
		if scheduled.GetActivityType().GetName() != workflows.ActivityDeliver || len(scheduled.GetInput().GetPayloads()) == 0 {
			continue
		}
		if kernel.Payloads.FromPayload(scheduled.GetInput().GetPayloads()[0], &given) == nil && given.Prior != nil {
			view.Attempts = given.Prior.Attempt + begun(waiting[0])
			view.LastFailure, view.LatenessMS, view.Link = given.Prior.Failure, given.Prior.LatenessMS, given.Prior.Link
		}
		return
	}
}

// begun counts the attempt of an activity, 0 until it begins.
func begun(attempt *workflowpb.PendingActivityInfo) int {
	if _, waits := kernel.StandbyOf(attempt); waits {
		return 0
	}
	return 1
}
