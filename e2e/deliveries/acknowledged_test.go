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

// A cancel that was accepted holds, whatever was accepted before it, and whoever
// sent it.
func TestAnAcceptedCancelHolds(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(env *testenv.Env, kind, path string){
		"by the API": func(env *testenv.Env, _, path string) {
			require.Equal(t, http.StatusAccepted, env.Do("DELETE", "/v1/timers/"+path+"?wait=0s", nil).Status)
		},
		"by a tool of Temporal": func(env *testenv.Env, _, path string) {
			require.NoError(t, env.Client.CancelWorkflow(t.Context(), path, ""))
		},
		"by a batch of Temporal": func(env *testenv.Env, kind, _ string) {
			reply := env.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil)
			require.Equal(t, http.StatusNoContent, reply.Status, "%s", reply.Body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, r, kind := testenv.Start(t)
			answers := make(chan int)
			env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/", receiver.AnsweredBy(answers))}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
			env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
			r.Await(t, "1", 1)
			require.Equal(t, http.StatusAccepted, env.Do("PATCH", "/v1/timers/"+kind+"/1?wait=0s", testenv.JSON{"delay": "1s"}).Status)
			cancel(env, kind, kind+"/1")
			awaitCancelRequest(t, env, kind+"/1")
			answers <- http.StatusInternalServerError
			env.Await(kind+"/1", "cancelled")
			require.Len(t, r.Calls("1"), 1)
		})
	}
}

func awaitCancelRequest(t *testing.T, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetWorkflowExtendedInfo().GetCancelRequested()
	}, testenv.Patience, 10*time.Millisecond, "a batch takes a moment")
}

// awaitMarks waits until so many changes are known to wait for a run whose task a
// worker has. A run that has lost its task, as on a machine that stands still, hears them at
// once, and asks the worker what has become of the attempt.
func awaitMarks(t *testing.T, env *testenv.Env, path string, n int) {
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
	}, testenv.Patience, 10*time.Millisecond, "%d changes should wait", n)
}

// toldChanges is what the API shows of changes.
type toldChanges struct {
	PendingChange  string `json:"pending_change"`
	RefusedChanges []struct {
		Change string    `json:"change"`
		At     time.Time `json:"at"`
		Errors []struct{ Pointer, Code string }
	} `json:"refused_changes"`
}

// A change that does not fit any more when it is applied is refused to whoever
// waits for it, and shows on the timer to whoever was answered 202.
func TestARefusedChangeIsTold(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	answers := make(chan int)
	body := sample.Booking(kind, "1", "0s", r.On("/", receiver.AnsweredBy(answers)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	r.Await(t, "1", 1)
	path := "/v1/timers/" + kind + "/1"
	later := func(hours int) string { return wire.At(time.Now().Add(time.Duration(hours) * time.Hour)).String() }
	moved := env.Do("PATCH", path+"?wait=0s", testenv.JSON{"due_at": later(3)})
	require.Equal(t, http.StatusAccepted, moved.Status)
	awaitMarks(t, env, kind+"/1", 1)
	waiting := make(chan testenv.Reply, 1)
	go func() { waiting <- env.Do("PATCH", path+"?wait=30s", testenv.JSON{"latest_at": later(2)}) }()
	awaitMarks(t, env, kind+"/1", 2)
	var unheard, edited toldChanges
	env.Do("PATCH", path+"?wait=0s", testenv.JSON{"latest_at": later(1)}).Into(&unheard)
	reply := env.Do("PATCH", path+"?wait=0s", testenv.JSON{"payload": testenv.JSON{"n": 2}})
	require.Equal(t, http.StatusAccepted, reply.Status)
	reply.Into(&edited)
	answers <- http.StatusInternalServerError

	refused := <-waiting
	require.Equal(t, http.StatusConflict, refused.Status, "%s", refused.Body)
	problem := refused.Problem()
	require.Equal(t, "urn:wakecall:problem:overtaken", problem.Type)
	require.Len(t, problem.Errors, 1)
	require.Equal(t, "/latest_at", problem.Errors[0].Pointer)
	require.Equal(t, 3, env.Get(kind+"/1").Revision, "what fits is applied: the move and the payload")

	var shown toldChanges
	env.Do("GET", path, nil).Into(&shown)
	require.Empty(t, shown.PendingChange)
	require.Len(t, shown.RefusedChanges, 2)
	require.Equal(t, unheard.PendingChange, shown.RefusedChanges[1].Change)
	require.NotEmpty(t, unheard.PendingChange)
	require.Equal(t, "/latest_at", shown.RefusedChanges[1].Errors[0].Pointer)
	for _, refusal := range shown.RefusedChanges {
		require.NotEqual(t, edited.PendingChange, refusal.Change)
	}
	require.Len(t, r.Calls("1"), 1)
}

// An attempt that outlasts the workflow task is made once, whichever of two workers
// has the task by the time that something else happened to the timer.
func TestALongAttemptAmongTwoWorkers(t *testing.T) { // a worker that stands still is taken for dead: it needs the machine for itself
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
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
}

// shortTask is a workflow task's timeout of which the SDK uses 80 %.
const shortTask = 2 * time.Second

func startWithShortTasks(t *testing.T, env *testenv.Env, key wire.Key, url string) {
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
func awaitHeartbeat(t *testing.T, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetWorkflowExecutionInfo().GetHistoryLength() > 4
	}, testenv.Patience, 10*time.Millisecond, "the SDK should have heartbeat the task")
}
