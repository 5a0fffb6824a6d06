package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// TestRing sends one test event by the queue of its business type, whose limit and pause hold for it
// as well. It is not repeated.
func TestRing(ctx workflow.Context, ring delivery.TestRing) (result delivery.TestResult, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              DeliveryQueue(ring.BusinessType),
		ScheduleToStartTimeout: tuning.TestRingWait, StartToCloseTimeout: tuning.TestRingTimeout + tuning.RecordSlack,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err = workflow.ExecuteActivity(ctx, ActivityTestRing, ring).Get(ctx, &result)
	return result, err
}
