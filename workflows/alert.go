package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// The patience of an alert. Whoever watches is told within minutes of being
// back, and not any more after a day.
const (
	alertTimeout  = 15 * time.Second
	alertFirst    = 5 * time.Second
	alertLongest  = 15 * time.Minute
	alertPatience = 24 * time.Hour
)

// Alert tells one event to whoever the policy names. It lives on when what
// raised it has ended, and fails when nobody would hear it for a day.
func Alert(ctx workflow.Context, event timer.Event) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ControlQueue, StartToCloseTimeout: alertTimeout + recordSlack, ScheduleToCloseTimeout: alertPatience,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: alertFirst, BackoffCoefficient: 2, MaximumInterval: alertLongest},
	})
	return workflow.ExecuteActivity(ctx, ActivityAlert, event).Get(ctx, nil)
}

// raise starts an alert and waits for no more than that. An alert that cannot
// be started is left: it must never hold up a timer.
func raise(ctx workflow.Context, event timer.Event, occasion string) {
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
