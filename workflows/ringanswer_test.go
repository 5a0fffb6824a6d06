package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/workflows"
)

// A receiver's answer reaches the gateway that gave the ring, and no other.
func TestAnAnswerIsBroughtToItsGateway(t *testing.T) {
	t.Parallel()
	answer := delivery.RingAnswer{Gateway: "g1", BusinessType: "x", Connection: "c", Number: 3, Delivered: true}
	for name, there := range map[string]bool{"the gateway is there": true, "it is gone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment()
			env.RegisterActivityWithOptions(func(ctx context.Context, got delivery.RingAnswer) error {
				require.Equal(t, answer, got)
				require.Equal(t, workflows.AnswersQueue("g1"), activity.GetInfo(ctx).TaskQueue)
				if !there {
					return activity.ErrResultPending
				}
				return nil
			}, activity.RegisterOptions{Name: workflows.ActivityAnswerRing})
			env.ExecuteWorkflow(workflows.TypeAnswerRing, answer)
			require.True(t, env.IsWorkflowCompleted())
			require.Equal(t, there, env.GetWorkflowError() == nil)
		})
	}
}
