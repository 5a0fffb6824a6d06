package deliveries

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

func awaitCancelRequest(t testing.TB, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetWorkflowExtendedInfo().GetCancelRequested()
	}, testenv.Patience, testenv.Interval, "a batch takes a moment")
}

// awaitMarks waits until so many changes are known to wait for a run whose task a
// worker has. A run that has lost its task, as on a machine that stands still, hears them at
// once, and asks the worker what has become of the attempt.
func awaitMarks(t testing.TB, env *testenv.Env, path string, n int) {
	t.Helper()
	runID := env.Get(path).RunID
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		marks := 0
		for id := range described.GetWorkflowExtendedInfo().GetRequestIdInfos() {
			if strings.HasPrefix(id, workflows.ChangeMark(runID)) {
				marks++
			}
		}
		return err == nil && (marks == n || len(described.GetPendingActivities()) > 0)
	}, testenv.Patience, testenv.Interval, "%d changes should wait", n)
}

// An attempt that outlasts the workflow task is made once, whichever of two workers
// has the task by the time that something else happened to the timer.
func TestALongAttemptAmongTwoWorkers(t *testing.T) { // a worker that stands still is taken for dead: it needs the machine for itself
	testenv.Steadily(t, func(t testing.TB) {
		addr := testenv.Alone(t)
		env, other := testenv.Open(t, addr), testenv.Open(t, addr)
		env.StartWorker()
		other.StartWorker()
		r, kind := receiver.New(t), sample.Type(t)
		answers := make(chan int)
		url := r.On("/", receiver.AnsweredBy(answers))
		ids := []string{"0", "1", "2", "3", "4", "5", "6", "7"}
		for _, id := range ids {
			startWithShortTasks(t, env, wire.Key{BusinessType: kind, BusinessID: id}, url)
		}
		for _, id := range ids {
			r.Await(t, id, 1)
			awaitHeartbeat(t, env, kind+"/"+id)
		}
		replies := make(chan testenv.Reply, len(ids))
		for n, id := range ids {
			go func() {
				if n%2 == 0 {
					replies <- env.Do("DELETE", "/v1/timers/"+kind+"/"+id+"?wait=30s", nil)
					return
				}
				replies <- env.Do("PATCH", "/v1/timers/"+kind+"/"+id+"?wait=30s", testenv.JSON{"delay": "1h"})
			}()
		}
		for n, id := range ids {
			if n%2 == 0 {
				awaitCancelRequest(t, env, kind+"/"+id)
			} else {
				awaitMarks(t, env, kind+"/"+id, 1)
			}
		}
		for range ids {
			answers <- http.StatusOK
		}
		for range ids {
			reply := <-replies
			assert.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
		}
		for _, id := range ids {
			env.Await(kind+"/"+id, "delivered")
		}
		require.Len(t, r.All(), len(ids))
	})
}

// shortTask is a workflow task's timeout of which the SDK uses 80 %.
const shortTask = 2 * time.Second

func startWithShortTasks(t testing.TB, env *testenv.Env, key wire.Key, url string) {
	t.Helper()
	now := wire.At(time.Now())
	spec := timer.Spec{
		Key: key, Memo: timer.Memo{Booking: key.String(), Revision: 1, DueAt: now, CreatedAt: now, Priority: policy.DefaultPriority},
		Callback:  &delivery.Callback{Destination: delivery.HTTP(url), Timeout: wire.Duration(time.Minute)},
		Behaviour: workflows.BehaviourNow,
	}
	_, err := env.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: key.String(), TaskQueue: workflows.TaskQueue, WorkflowTaskTimeout: shortTask,
		Memo: map[string]any{workflows.MemoTimer: spec.Memo},
	}, workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(t, err)
}

// awaitHeartbeat waits until the SDK has asked for more time for an attempt.
func awaitHeartbeat(t testing.TB, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetWorkflowExecutionInfo().GetHistoryLength() > 4
	}, testenv.Patience, testenv.Interval, "the SDK should have heartbeat the task")
}
