package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// An errand is a workflow of one activity, which is tried once.

// Notification names a run, and the worker that has preloaded it.
type Notification struct {
	Worker string `json:"worker"`
	RunID  string `json:"run_id"`
}

// Notify makes a worker check at once whether a timer that it has preloaded is still wanted.
// Temporal withholds a cancel or a change while the worker has the task. It may fail, since
// the worker always checks before it rings.
func Notify(ctx workflow.Context, of Notification) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ReceiptQueue(of.Worker), ScheduleToCloseTimeout: tuning.QuestionTimeout,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, ActivityRecheck, of.RunID).Get(ctx, nil)
}

// AnswerRing brings a receiver's answer to the gateway of its ring, if another gateway got
// it. It fails if the ring is over or that gateway is gone. The ring then goes to another
// receiver.
func AnswerRing(ctx workflow.Context, answer delivery.RingAnswer) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: AnswersQueue(answer.Gateway), ScheduleToCloseTimeout: tuning.QuestionTimeout,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, ActivityAnswerRing, answer).Get(ctx, nil)
}

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
