package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Alert tells one event to whoever the policy names. It lives on when what
// raised it has ended, and fails when nobody would hear it for a day.
func Alert(ctx workflow.Context, event timer.Event) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ControlQueue, StartToCloseTimeout: tuning.AlertTimeout + tuning.RecordSlack, ScheduleToCloseTimeout: tuning.AlertPatience,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: tuning.AlertFirst, BackoffCoefficient: 2, MaximumInterval: tuning.AlertLongest},
	})
	return workflow.ExecuteActivity(ctx, ActivityAlert, event).Get(ctx, nil)
}

// startAlert starts an alert and waits for no more than that. An alert that cannot
// be started is left: it must never hold up a timer.
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
