package failover

import (
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/deploy"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Temporal can lose a workflow's timer without a word (temporal#11869). Here it
// is taken away behind the server's back. Without a reconciler such timers never
// ring; with it all of them do, each of them once.
func TestLostTimersAreFound(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		dir := t.TempDir()
		addr := testenv.AloneIn(t, dir)
		env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
		env.StartWorker() // it has no reconciler
		const lost = 20
		r.On("/flaky", receiver.FailFirst(2))
		env.Policy(kind, testenv.JSON{
			"callback": testenv.JSON{"url": r.URL}, "alert": testenv.JSON{"url": r.URL + "/alert"}, "retry": testenv.JSON{"steps": []string{"10ms", "20s"}},
		})
		env.Add(sample.Booking(kind, "retrying", "0s", r.URL+"/flaky"))
		require.Eventually(t, func() bool {
			shown := env.Get(kind + "/retrying")
			return shown.Attempts == 2 && shown.NextAttemptAt.After(time.Now())
		}, testenv.Patience, testenv.Interval, "the backoff is Temporal's")
		env.AddMany(kind, lost, 16*time.Second) // before that they are taken away, also on a busy machine
		taken := takeTimers(t, filepath.Join(dir, "main.db"))
		require.GreaterOrEqual(t, taken, int64(lost+1))
		env.Add(sample.Booking(kind, "control", "18s", r.URL))
		r.Await(t, "control", 1)
		require.Len(t, r.All(), 3, "nothing but two attempts of one, and the control")
		lateness := env.Get(kind + "/retrying").LatenessMS

		settings := testenv.Settings()
		settings.ReconcileInterval = time.Second
		testenv.OpenWith(t, addr, settings).StartWorker()
		env.AwaitAll(kind, lost, "delivered")
		retried := env.Await(kind+"/retrying", "delivered")
		require.Equal(t, 3, retried.Attempts, "it goes on where it was")
		require.Equal(t, lateness, retried.LatenessMS)
		require.Equal(t, "3", r.Calls("retrying")[2].Header.Get("Wakecall-Attempt"))
		for _, id := range []string{"0", "7", "19"} {
			require.Len(t, r.Calls(id), 1)
		}
		require.Len(t, r.Calls("retrying"), 3)
		require.Contains(t, string(r.AwaitTo(t, "/alert", 1)[0].Body), `"timers.overdue"`)
		require.Equal(t, http.StatusOK, env.Do("GET", "/v1/timers/"+kind+"/0", nil).Status)
	})
}

// A worker dies with timers that it had, and Temporal loses the timeouts of their tasks: it
// hands them to nobody, and no signal wakes them. Another worker takes them over. Where
// Temporal keeps no signs of life, the reconciler finds them and counts them as overdue. With
// neither none rings.
func TestLostTimersThatAWorkerHadAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open     func(t testing.TB, dir string) (addr string)
		interval time.Duration
		rings    int
		counted  bool
	}{
		"taken over": {func(t testing.TB, dir string) string { return testenv.AloneIn(t, dir) }, 0, 10, false},
		"reconciled": {withoutSigns, time.Second, 10, true},
		"control":    {withoutSigns, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			addr := c.open(t, dir)
			env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
			env.StartWorker()
			env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "alert": testenv.JSON{"url": r.URL + "/alert"}})
			env.StopWorker()
			env.AddMany(kind, 10, 3*time.Second)
			takeTasks(t, env, 10)
			require.GreaterOrEqual(t, takeTimers(t, filepath.Join(dir, "main.db")), int64(10))
			settings := testenv.Settings()
			settings.ReconcileInterval = c.interval
			testenv.OpenWith(t, addr, settings).StartWorker()
			if c.rings == 0 {
				env.Add(sample.Booking(kind, "later", "30s", r.URL))
				r.Await(t, "later", 1)
				require.Len(t, r.All(), 1, "nothing but what was booked later")
				return
			}
			env.AwaitAll(kind, c.rings, "delivered")
			for i := range c.rings {
				require.Len(t, r.Calls(strconv.Itoa(i)), 1)
			}
			if !c.counted {
				require.Empty(t, r.To("/alert"), "the reconciler found none")
				return
			}
			require.Contains(t, string(r.AwaitTo(t, "/alert", 1)[0].Body), `"timers.overdue"`)
		})
	}
}

// takeTasks takes the tasks of so many timers as a worker that dies at once. It is not an SDK's
// worker, which would share its workflows with those that live in this process.
func takeTasks(t testing.TB, env *testenv.Env, timers int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	for range timers {
		var task *workflowservice.PollWorkflowTaskQueueResponse
		for task.GetWorkflowType().GetName() != workflows.TypeTimer { // a poll may end without a task
			var err error
			task, err = env.Client.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
				Namespace: client.DefaultNamespace, Identity: "wakecall-that-died", TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.TaskQueue},
			})
			require.NoError(t, err)
		}
	}
}

// withoutSigns starts a Temporal by which workers do not learn of one another's death.
func withoutSigns(t testing.TB, dir string) (addr string) {
	t.Helper()
	tuning := string(deploy.DynamicConfig) + "frontend.WorkerHeartbeatsEnabled:\n  - value: false\n"
	addr, stop, err := testenv.TemporalWith(dir, []byte(tuning), 24*time.Hour)
	require.NoError(t, err)
	t.Cleanup(stop)
	return addr
}

// The same with the attempts that a worker made on a queue.
func TestLostAttemptsOfAWorkerAreFound(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		dir := t.TempDir()
		addr := withoutSigns(t, dir)
		var wire cut
		dead := testenv.OpenThrough(t, addr, testenv.Settings(), wire.intercept)
		dead.StartWorker()
		env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
		goOn := make(chan struct{})
		r.On("/held", func(http.ResponseWriter, *http.Request, int) { <-goOn })
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"callbacks_per_second": 100}})
		env.Add(sample.Booking(kind, "1", "0s", r.URL+"/held"))
		r.Await(t, "1", 1)
		t.Cleanup(wire.begin())
		takeTimers(t, filepath.Join(dir, "main.db"))
		close(goOn)
		settings := testenv.Settings()
		settings.ReconcileInterval = time.Second
		testenv.OpenWith(t, addr, settings).StartWorker()
		r.Await(t, "1", 2)
		env.Await(kind+"/1", "delivered")
	})
}

// A try of a dead worker is made again a moment after it was freed, however many there were. Where
// another worker makes the next one by now, nothing is freed.
func TestATryOfADeadWorkerIsFreedOnce(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
	var wire cut
	dead := testenv.OpenThrough(t, addr, testenv.Settings(), wire.intercept)
	dead.StartWorker()
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	const tries = 6
	goOn := make(chan struct{})
	defer close(goOn)
	url := r.On("/held", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n < tries {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		<-goOn
	})
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": url}, "limits": testenv.JSON{"callbacks_per_second": 100},
		"retry": testenv.JSON{"steps": []string{"10ms", "10ms", "10ms", "10ms", "10ms", "10ms"}},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	r.Await(t, "1", tries)
	t.Cleanup(wire.begin())
	described := func() (*commonpb.WorkflowExecution, *workflowpb.PendingActivityInfo) {
		run, err := env.Client.DescribeWorkflowExecution(t.Context(), kind+"/1", "")
		require.NoError(t, err)
		require.Len(t, run.GetPendingActivities(), 1)
		return run.GetWorkflowExecutionInfo().GetExecution(), run.GetPendingActivities()[0]
	}
	held := holds.New(kernel.New(env.Client, client.DefaultNamespace, ""))
	free := func(run *commonpb.WorkflowExecution, try *workflowpb.PendingActivityInfo) bool {
		freed, err := held.FreeActivity(t.Context(), run, try)
		require.NoError(t, err)
		return freed
	}
	run, first := described()
	require.Equal(t, enumspb.PENDING_ACTIVITY_STATE_STARTED, first.GetState())
	require.True(t, free(run, first))
	_, next := described()
	require.Less(t, next.GetCurrentRetryInterval().AsDuration(), 2*tuning.LostTryFirst, "Temporal shows it by the clock")
	require.False(t, free(run, next), "no worker makes it yet")
	waiting, stop := context.WithTimeout(t.Context(), testenv.Patience)
	defer stop()
	taken, err := env.Client.WorkflowService().PollActivityTaskQueue(waiting, &workflowservice.PollActivityTaskQueueRequest{
		Namespace: client.DefaultNamespace, Identity: "another worker", TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.DeliveryQueue(kind)},
	})
	require.NoError(t, err)
	require.NotEmpty(t, taken.GetTaskToken(), "another worker makes the next try")
	require.False(t, free(run, first))
	_, next = described()
	require.Equal(t, enumspb.PENDING_ACTIVITY_STATE_STARTED, next.GetState(), "it goes on")
	require.True(t, free(run, next))
}

// cut is a connection to Temporal that ends, as that of a killed process does, and comes
// again.
type cut struct {
	mu     sync.Mutex
	silent bool
	calls  map[int]context.CancelFunc
	began  int
}

func (c *cut) begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = true
	for _, cancel := range c.calls {
		cancel()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.silent = false
	}
}

//nolint:revive // gRPC's own arguments
func (c *cut) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	ctx, end, ok := c.call(ctx)
	if !ok {
		return grpcstatus.Error(codes.Unavailable, "cut off")
	}
	defer end()
	return invoke(ctx, method, request, reply, conn, options...)
}

func (c *cut) call(ctx context.Context) (_ context.Context, end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	if c.calls == nil {
		c.calls = map[int]context.CancelFunc{}
	}
	c.began++
	n := c.began
	c.calls[n] = cancel
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, n)
	}, true
}

// takeTimers deletes what Temporal would have been woken by.
func takeTimers(t testing.TB, file string) (taken int64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	result, err := db.Exec("DELETE FROM timer_tasks")
	require.NoError(t, err)
	taken, err = result.RowsAffected()
	require.NoError(t, err)
	return taken
}
