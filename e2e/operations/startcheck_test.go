package operations

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/deploy"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/engine/namespace"
)

// findings are the findings of a start, by check.
func findings(t *testing.T, env *testenv.Env) map[string]namespace.Finding {
	found, began := map[string]namespace.Finding{}, time.Now()
	for _, finding := range env.Engine.Namespace.CheckStart(t.Context()) {
		t.Log(finding)
		found[finding.Check] = finding
	}
	t.Log(time.Since(began))
	assert.Len(t, found, 8)
	return found
}

// Temporal as Wakecall sets it up passes every check, and nothing is left of the checks. A
// continued workflow is gone only after half a minute.
func TestStartChecksPass(t *testing.T) {
	t.Parallel()
	env, _, _ := testenv.Start(t)
	for check, finding := range findings(t, env) {
		require.NoError(t, finding.Unknown, check)
		require.Empty(t, finding.Wrong, check)
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		left, err := env.Client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = 'WakecallCheck' AND ExecutionStatus != 'ContinuedAsNew'"})
		assert.NoError(c, err)
		assert.Empty(c, left.GetExecutions())
	}, testenv.Patience, 50*time.Millisecond, "Temporal deletes in the background")
}

// Temporal's defaults, with a short retention, fail the visible checks, each with one line
// on what to change.
func TestStartChecksOfUntunedTemporal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tuning string
		wrong  map[string]string
		blind  []string
	}{
		"as it comes": {
			"limit.maxIDLength:\n  - value: 255\n",
			map[string]string{
				"partitions": "matching.numTaskqueueReadPartitions", "id-reuse": "history.workflowIdReuseMinimalInterval", "retention": "set its retention to 24h",
				"polls": "frontend.enableCancelWorkerPollsOnShutdown",
			},
			[]string{"fairness"},
		},
		"without signs": {
			string(deploy.DynamicConfig) + "frontend.WorkerHeartbeatsEnabled:\n  - value: false\n",
			map[string]string{"signs": "frontend.WorkerHeartbeatsEnabled", "retention": "set its retention to 24h"}, nil,
		},
		"without fairness": {
			strings.Replace(string(deploy.DynamicConfig), "matching.enableFairness:\n  - value: true", "matching.enableFairness:\n  - value: false", 1),
			map[string]string{"fairness": "matching.enableFairness", "retention": "set its retention to 24h"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, stop, err := testenv.TemporalWith(t.TempDir(), []byte(c.tuning), time.Hour)
			require.NoError(t, err)
			t.Cleanup(stop)
			env := testenv.OpenWith(t, addr, testenv.Settings())
			require.EventuallyWithT(t, func(seen *assert.CollectT) {
				for check, finding := range findings(t, env) {
					if want, ok := c.wrong[check]; ok {
						assert.Contains(seen, finding.Wrong, want)
						assert.NotContains(seen, finding.Wrong, "\n")
						continue
					}
					assert.Empty(seen, finding.Wrong, check)
					assert.Equal(seen, len(c.blind) > 0 && check == c.blind[0], finding.Unknown != nil, check)
				}
			}, testenv.Patience, time.Millisecond, "on a busy machine a run may outlast by itself the interval that is looked for")
		})
	}
}
