package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/workflows"
)

// A test ring is made once, on the queue of its type.
func TestATestRingIsMadeOnce(t *testing.T) {
	t.Parallel()
	env, made := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment(), 0
	ring := delivery.TestRing{BusinessType: "order", Link: delivery.LinkFallback, At: 1}
	env.RegisterActivityWithOptions(func(ctx context.Context, asked delivery.TestRing) (delivery.TestResult, error) {
		made++
		require.Equal(t, workflows.DeliveryQueue("order"), activity.GetInfo(ctx).TaskQueue)
		require.Equal(t, ring, asked)
		return delivery.TestResult{}, temporal.NewApplicationError("the worker died", "")
	}, activity.RegisterOptions{Name: workflows.ActivityTestRing})
	workflows.Register(env)
	env.ExecuteWorkflow(workflows.TypeTestRing, ring)
	require.ErrorContains(t, env.GetWorkflowError(), "the worker died")
	require.Equal(t, 1, made)
}
