package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Alert delivers one event to the policy's recipient. It outlives the run that raised it,
// and fails after a day without success.
func Alert(ctx workflow.Context, event timer.Event) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ControlQueue, StartToCloseTimeout: tuning.AlertTimeout + tuning.RecordSlack, ScheduleToCloseTimeout: tuning.AlertPatience,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: tuning.AlertFirst, BackoffCoefficient: 2, MaximumInterval: tuning.AlertLongest},
	})
	return workflow.ExecuteActivity(ctx, ActivityAlert, event).Get(ctx, nil)
}

// startAlert starts an alert and waits only for the start. It drops an alert that cannot be
// started: an alert must never hold up a timer.
func startAlert(ctx workflow.Context, event timer.Event, occasion string) {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // releasing it would cancel the alert
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            AlertID(event.Type, occasion),
		TaskQueue:             TaskQueue,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         string(event.Type) + " of " + event.Data.BusinessType,
	})
	_ = workflow.ExecuteChildWorkflow(ctx, TypeAlert, event).GetChildWorkflowExecution().Get(ctx, nil)
}
