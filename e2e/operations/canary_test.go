package operations

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// A timer of a canary shows in no list, no count and no record, neither while its delivery is under way
// nor when it has ended. A timer that is booked meanwhile does.
func TestACanaryShowsNowhere(t *testing.T) {
	t.Parallel()
	env, kind := testenv.Open(t, testenv.Alone(t)), sample.Type(t)
	env.StartWorker()
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"stream": true}})
	now := wire.At(time.Now())
	spec := timer.Spec{
		Key:  wire.Key{BusinessType: policy.CanaryType("gateway"), BusinessID: "canary"},
		Memo: timer.Memo{DueAt: now, CreatedAt: now, Booking: "canary"}, Behaviour: workflows.BehaviourNow,
	}
	run, err := env.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: spec.String(), TaskQueue: workflows.TaskQueue, Memo: map[string]any{workflows.MemoTimer: spec.Memo},
	}, workflows.TypeCanary, spec, workflows.Encode(nil))
	require.NoError(t, err)
	awaitCanary(t, env, "TimerState = 'delivering'")
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	showsOne(t, env, kind)
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "it has been measured"))
	awaitCanary(t, env, "ExecutionStatus = 'Terminated'")
	showsOne(t, env, kind)
}

// awaitCanary waits until visibility shows the timer of the canary in a state.
func awaitCanary(t *testing.T, env *testenv.Env, state string) {
	t.Helper()
	query := "WorkflowType = '" + workflows.TypeCanary + "' AND " + state
	require.Eventually(t, func() bool {
		counted, err := env.Client.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		return err == nil && counted.GetCount() == 1
	}, testenv.Patience, testenv.Interval, state)
}

// showsOne expects that everything shows one scheduled timer, and nothing of another one.
func showsOne(t *testing.T, env *testenv.Env, kind string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var counts timer.Stats
		env.Do("GET", "/v1/stats", nil).Into(&counts)
		assert.Equal(c, timer.StatusCounts{Scheduled: 1}, counts.Timers)
		var list struct{ Timers []timer.View }
		env.Do("GET", "/v1/timers", nil).Into(&list)
		if assert.Len(c, list.Timers, 1) {
			assert.Equal(c, kind, list.Timers[0].BusinessType)
		}
	}, testenv.Patience, testenv.Interval, "visibility lags behind, and counts are trusted for a moment")
	for _, path := range []string{
		"/v1/timers?status=delivering", "/v1/timers?status=cancelled", "/v1/policies", "/v1/emergency", "/v1/audit", "/v1/slo", "/v1/outcomes",
		"/v1/processes", "/v1/forecast?business_type=" + kind, "/metrics",
	} {
		reply := env.Do("GET", path, nil)
		require.Equal(t, http.StatusOK, reply.Status, "%s: %s", path, reply.Body)
		require.NotContains(t, string(reply.Body), "canary:", path)
	}
	open, err := env.Client.WorkflowService().CountWorkflowExecutions(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: client.DefaultNamespace, Query: "BusinessType IS NOT NULL AND ExecutionStatus = '" + enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING.String() + "'",
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, open.GetCount(), "it has no business type")
}
