package timers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfAnswers records answers to rings on their way to another gateway: one
// that arrives, and one whose gateway is gone.
func TestRecordHistoriesOfAnswers(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, _, kind := testenv.Start(t)
	gateway := sdkworker.New(env.Client, workflows.AnswersQueue("gateway"), sdkworker.Options{DisableWorkflowWorker: true})
	gateway.RegisterActivityWithOptions(func(context.Context, delivery.RingAnswer) error { return nil },
		activity.RegisterOptions{Name: workflows.ActivityAnswerRing})
	require.NoError(t, gateway.Start())
	t.Cleanup(gateway.Stop)
	for name, to := range map[string]string{"answer": "gateway", "answer-lost": "gone"} {
		answer := delivery.RingAnswer{Gateway: to, BusinessType: kind, Connection: name, Number: 1, Delivered: true}
		id := workflows.AnswerRingID(name)
		run, err := env.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, workflows.TypeAnswerRing, answer)
		require.NoError(t, err)
		require.Equal(t, to == "gone", run.Get(t.Context(), nil) != nil)
		testenv.Recorder{T: t, H: env}.Run(name, id, "")
	}
}
