package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// What a worker has no room to hold goes back, and wakes when it rings and no
// earlier: no worker is asked twice to hold it.
func TestCrowdedOutWakesWhenItRings(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	workflows.Register(env)
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery, converter.RawValue) (timer.Report, error) {
		return timer.Report{Result: timer.ResultRejected}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityRing})
	due := timer.At(time.Now().Add(time.Hour))
	spec := timer.Spec{Key: timer.Key{BusinessType: "x", BusinessID: "1"}, Memo: timer.Memo{CreatedAt: due, DueAt: due, Preload: timer.Preload{Lead: timer.Duration(50 * time.Second), Window: timer.Duration(time.Minute)}}}
	env.SetStartTime(due.Add(-spec.Lead()).Time())
	require.NoError(t, env.SetMemoOnStart(map[string]any{workflows.MemoTimer: spec.Memo}))
	env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))

	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &again)
	var next timer.Spec
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.True(t, next.NotPreloaded)
	require.Zero(t, next.Lead())
	require.InDelta(t, spec.Lead(), again.BackoffStartInterval, float64(time.Millisecond))
}
