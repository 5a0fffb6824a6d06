package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// AnswerRing brings a receiver's word on a ring to the gateway that gave it, where it came
// to another one. It fails where the ring is over, and where that gateway is gone: then the ring
// goes to another receiver.
func AnswerRing(ctx workflow.Context, answer delivery.RingAnswer) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: AnswersQueue(answer.Gateway), ScheduleToCloseTimeout: tuning.QuestionTimeout,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, ActivityAnswerRing, answer).Get(ctx, nil)
}
