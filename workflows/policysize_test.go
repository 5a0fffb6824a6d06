package workflows_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// An entity with a large history continues in a new run, from its last state. The count is
// the control: a small history continues in the same run.
func TestPolicyMakesRoom(t *testing.T) {
	t.Parallel()
	for name, grow := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"as Temporal suggests": func(env *testsuite.TestWorkflowEnvironment) { env.SetContinueAsNewSuggested(true) },
		"by its size":          func(env *testsuite.TestWorkflowEnvironment) { env.SetCurrentHistorySize(3 << 20) },
		"not at all":           func(*testsuite.TestWorkflowEnvironment) {},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment()
			env.RegisterActivityWithOptions(func(context.Context, policy.QueueRate) error { return nil },
				activity.RegisterOptions{Name: workflows.ActivitySetQueueRate})
			record := func(version int) workflows.PolicyRecord {
				return workflows.PolicyRecord{Policy: policy.Policy{BusinessType: "order", Version: version}.WithDefaults(), ChangedAt: wire.At(time.Now())}
			}
			told := 0
			tell := func(version int) {
				env.UpdateWorkflow(workflows.UpdatePutPolicy, strconv.Itoa(version), &testsuite.TestUpdateCallback{
					OnAccept: func() {}, OnReject: func(err error) { t.Error(err) }, OnComplete: func(_ any, err error) { require.NoError(t, err); told++ },
				}, workflows.PutPolicy{Record: record(version), IfVersion: version - 1})
			}
			env.RegisterDelayedCallback(func() { tell(2) }, time.Minute)
			wish := policy.BackPressure{Since: wire.At(env.Now()), Until: wire.At(env.Now().Add(4 * time.Minute))}
			env.RegisterDelayedCallback(func() { grow(env); env.SignalWorkflow(workflows.SignalBackPressure, wish) }, 2*time.Minute)
			env.RegisterDelayedCallback(env.CancelWorkflow, 3*time.Minute)
			env.ExecuteWorkflow(workflows.TypePolicy, record(1))
			require.Equal(t, 1, told, "%v", env.GetWorkflowError())
			var again *workflow.ContinueAsNewError
			if name == "not at all" {
				require.NotErrorAs(t, env.GetWorkflowError(), &again)
				return
			}
			require.ErrorAs(t, env.GetWorkflowError(), &again)
			var next workflows.PolicyRecord
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
			require.Equal(t, 2, next.Policy.Version)
			require.NotNil(t, next.Policy.BackPressure, "nobody would hear what came in the last moment")
		})
	}
}
