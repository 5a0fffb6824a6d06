package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

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
