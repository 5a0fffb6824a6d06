package embedded

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/api/adminservice/v1"
	taskqueueserver "go.temporal.io/server/api/taskqueue/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// The tests named TestTemporal check the semantics of Temporal on which Wakecall is built.
// They use nothing of Wakecall's. Run them first for another version of the server or the
// SDK. If one fails, review the design that relies on it, and not the test.

func TestTemporalStartDelay(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work()
	const delay = 6 * time.Second // the signal comes before it is over

	kept := l.start(l.after("kept", delay), "")
	signalled := l.start(l.after("signalled", delay), "")
	require.NoError(t, l.SignalWorkflow(t.Context(), signalled.GetID(), "", poke, nil))
	fresh, err := l.SignalWithStartWorkflow(t.Context(), l.after("fresh", delay).ID, poke, nil, l.after("fresh", delay), wake, "")
	require.NoError(t, err)

	t.Run("signal with start wakes a run that is there", func(t *testing.T) {
		l := l.in(t)
		run := l.startCold("signal-with-start")
		same, err := l.SignalWithStartWorkflow(t.Context(), run.GetID(), poke, nil, l.cold("signal-with-start"), wake, "")
		require.NoError(t, err)
		require.Equal(t, run.GetRunID(), same.GetRunID())
		require.Equal(t, 1, l.result(run).Signals)
	})
	t.Run("update wakes", func(t *testing.T) {
		l := l.in(t)
		run := l.startCold("update")
		handle, err := l.UpdateWorkflow(l.context(), client.UpdateWorkflowOptions{
			WorkflowID: run.GetID(), UpdateName: poke, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		require.NoError(t, err)
		require.NoError(t, handle.Get(l.context(), nil))
		require.Less(t, l.result(run).After, time.Minute)
	})
	t.Run("cancel wakes, with the context cancelled already", func(t *testing.T) {
		l := l.in(t)
		run := l.startCold("cancel")
		require.NoError(t, l.CancelWorkflow(t.Context(), run.GetID(), ""))
		require.True(t, sdk.IsCanceledError(run.Get(l.context(), nil)))
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, l.status(run))
	})
	t.Run("query finds nobody", func(t *testing.T) {
		l := l.in(t)
		_, err := l.QueryWorkflow(t.Context(), l.startCold("query").GetID(), "", "__stack_trace")
		require.ErrorAs(t, err, new(*serviceerror.WorkflowNotReady))
	})
	t.Run("update with start takes no delay", func(t *testing.T) {
		l := l.in(t)
		options := l.cold("update-with-start")
		options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
		_, err := l.UpdateWithStartWorkflow(l.context(), client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: l.NewWithStartWorkflowOperation(options, wake, ""),
			UpdateOptions:          client.UpdateWorkflowOptions{UpdateName: poke, WaitForStage: client.WorkflowUpdateStageCompleted},
		})
		require.ErrorAs(t, err, new(*serviceerror.InvalidArgument))
	})
	t.Run("negative is refused", func(t *testing.T) {
		l := l.in(t)
		_, err := l.ExecuteWorkflow(t.Context(), l.after("negative", -time.Second), wake, "")
		require.ErrorAs(t, err, new(*serviceerror.InvalidArgument))
	})

	require.GreaterOrEqual(t, l.result(kept).After, delay, "not early")
	waited := l.result(signalled)
	require.GreaterOrEqual(t, waited.After, delay, "a plain signal does not wake")
	require.Equal(t, 1, waited.Signals, "and is there when the delay is over")
	created := l.result(fresh)
	require.GreaterOrEqual(t, created.After, delay, "a signal that starts the run leaves its delay alone")
	require.Equal(t, 1, created.Signals)
}

// What works without a worker.
func TestTemporalStartDelayWithoutWorker(t *testing.T) {
	t.Parallel()
	l := newLab(t)

	due := time.Now().Add(time.Hour)
	shown := l.startCold("shown")
	described, err := l.DescribeWorkflowExecution(t.Context(), shown.GetID(), "")
	require.NoError(t, err)
	require.WithinDuration(t, due, described.GetWorkflowExecutionInfo().GetExecutionTime().AsTime(), time.Minute,
		"the execution time is the due time")

	terminated := l.startCold("terminated")
	require.NoError(t, l.TerminateWorkflow(t.Context(), terminated.GetID(), "", ""))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, l.status(terminated))

	cancelled := l.startCold("cancelled")
	require.NoError(t, l.CancelWorkflow(t.Context(), cancelled.GetID(), ""))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, l.status(cancelled), "a cancel needs a worker to end the run")

	updated := l.startCold("updated")
	require.Eventually(t, func() bool {
		impatient, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := l.UpdateWorkflow(impatient, client.UpdateWorkflowOptions{
			UpdateID: "1", WorkflowID: updated.GetID(), UpdateName: poke, WaitForStage: client.WorkflowUpdateStageAccepted,
		})
		require.Error(t, err)
		described, err := l.DescribeWorkflowExecution(t.Context(), updated.GetID(), "")
		return err == nil && described.GetPendingWorkflowTask() != nil
	}, time.Minute, time.Millisecond, "the update reaches the server")

	l.work()
	require.Less(t, l.result(updated).After, time.Minute, "an update that was answered with an error ended the delay all the same")
	require.True(t, sdk.IsCanceledError(cancelled.Get(l.context(), nil)))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, l.status(shown))
}

// All ends of a run, and an open one.
var ended = map[string]func(*lab, string) client.WorkflowRun{
	"open": (*lab).startCold,
	"completed": func(l *lab, id string) client.WorkflowRun {
		run := l.start(l.after(id, 0), succeed)
		l.result(run)
		return run
	},
	"failed": func(l *lab, id string) client.WorkflowRun {
		run := l.start(l.after(id, 0), fail)
		require.Error(l.t, run.Get(l.context(), nil))
		return run
	},
	"cancelled": func(l *lab, id string) client.WorkflowRun {
		run := l.startCold(id)
		require.NoError(l.t, l.CancelWorkflow(l.context(), run.GetID(), ""))
		require.Error(l.t, run.Get(l.context(), nil))
		return run
	},
	"terminated": func(l *lab, id string) client.WorkflowRun {
		run := l.startCold(id)
		require.NoError(l.t, l.TerminateWorkflow(l.context(), run.GetID(), "", ""))
		return run
	},
	"timed out": func(l *lab, id string) client.WorkflowRun {
		options := l.after(id, 0)
		options.TaskQueue, options.WorkflowRunTimeout = l.queue+"-nobody", time.Second
		run := l.start(options, "")
		require.Error(l.t, run.Get(l.context(), nil))
		return run
	},
}

// The results of a start whose id is taken.
const (
	another = "another run"
	existed = "already started"
	theSame = "the same run"
	refused = "invalid"
)

func (l *lab) outcome(before client.WorkflowRun, options client.StartWorkflowOptions) string {
	l.t.Helper()
	after, err := l.ExecuteWorkflow(l.context(), options, wake, "")
	switch {
	case is[*serviceerror.WorkflowExecutionAlreadyStarted](err):
		return existed
	case is[*serviceerror.InvalidArgument](err):
		return refused
	}
	require.NoError(l.t, err)
	if after.GetRunID() == before.GetRunID() {
		return theSame
	}
	return another
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestTemporalIDPolicies(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work()
	type policies struct {
		reuse    enumspb.WorkflowIdReusePolicy
		conflict enumspb.WorkflowIdConflictPolicy
	}
	const (
		duplicate = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
		onlyFail  = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
		reject    = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
		refuse    = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
		use       = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
		terminate = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	)
	unsuccessful := map[policies]string{{duplicate, refuse}: another, {onlyFail, refuse}: another, {reject, refuse}: existed, {onlyFail, terminate}: another}
	for ending, table := range map[string]map[policies]string{
		"open": {
			{duplicate, refuse}: existed, {onlyFail, refuse}: existed, {reject, refuse}: existed,
			{duplicate, use}: theSame, {duplicate, terminate}: another, {onlyFail, terminate}: another, {reject, terminate}: refused,
		},
		"completed": {
			{duplicate, refuse}: another, {onlyFail, refuse}: existed, {reject, refuse}: existed,
			{duplicate, terminate}: another, {onlyFail, terminate}: existed, {onlyFail, use}: existed,
		},
		"failed": unsuccessful, "cancelled": unsuccessful, "terminated": unsuccessful, "timed out": unsuccessful,
	} {
		for policy, want := range table {
			t.Run(ending+" "+policy.reuse.String()+" "+policy.conflict.String(), func(t *testing.T) {
				t.Parallel()
				l, id := l.in(t), queueOf(t)
				before := ended[ending](l, id)
				options := l.cold(id)
				options.WorkflowIDReusePolicy, options.WorkflowIDConflictPolicy = policy.reuse, policy.conflict
				require.Equal(t, want, l.outcome(before, options))
				if ending == "open" && want == another {
					require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, l.status(before))
				}
			})
		}
	}
}

// A start whose id is taken is an error only on request.
func TestTemporalErrorWhenAlreadyStarted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work()
	for _, ending := range []string{"open", "completed"} {
		before := ended[ending](l, ending)
		options := l.cold(ending)
		options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
		require.Equal(t, existed, l.outcome(before, options))
		options.WorkflowExecutionErrorWhenAlreadyStarted = false
		require.Equal(t, theSame, l.outcome(before, options))
	}
}

func TestTemporalSignalWithStartOnAFinishedRun(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work()
	for ending, want := range map[string]string{"completed": existed, "failed": another, "cancelled": another, "terminated": another} {
		before := ended[ending](l, ending)
		options := l.cold(ending)
		options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
		after, err := l.SignalWithStartWorkflow(t.Context(), options.ID, poke, nil, options, wake, "")
		if want == existed {
			require.ErrorAs(t, err, new(*serviceerror.WorkflowExecutionAlreadyStarted), ending)
			continue
		}
		require.NoError(t, err, ending)
		require.NotEqual(t, before.GetRunID(), after.GetRunID(), ending)
	}
}

func TestTemporalCallsOnAFinishedRun(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work()
	id := ended["completed"](l, "done").GetID()
	require.NoError(t, l.CancelWorkflow(t.Context(), id, ""), "a cancel of a finished run is no error: ask before answering")
	require.ErrorAs(t, l.SignalWorkflow(t.Context(), id, "", poke, nil), new(*serviceerror.NotFound))
	require.ErrorAs(t, l.TerminateWorkflow(t.Context(), id, "", ""), new(*serviceerror.NotFound))
	_, err := l.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: poke, WaitForStage: client.WorkflowUpdateStageAccepted,
	})
	require.ErrorAs(t, err, new(*serviceerror.NotFound))
	require.ErrorAs(t, l.CancelWorkflow(t.Context(), "nobody", ""), new(*serviceerror.NotFound))
}

// again continues as new with a backoff, then does the same as wake.
func again(ctx workflow.Context, backoff time.Duration) (woken, error) {
	if backoff < 0 {
		return wake(ctx, "")
	}
	next := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: backoff}
	return woken{}, workflow.NewContinueAsNewErrorWithOptions(ctx, next, again, time.Duration(-1))
}

func TestTemporalContinueAsNewBackoff(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(func(r worker.Registry) { r.RegisterWorkflow(again) })
	businessID := sdk.NewSearchAttributeKeyKeyword("BusinessId")
	begin := func(l *lab, id string, backoff time.Duration) client.WorkflowRun {
		t := l.t
		options := l.after(id, 0)
		options.Memo = map[string]any{"kept": id}
		options.TypedSearchAttributes = sdk.NewSearchAttributes(businessID.ValueSet(id))
		first, err := l.ExecuteWorkflow(t.Context(), options, again, backoff)
		require.NoError(t, err)
		var second client.WorkflowRun
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			described, err := l.DescribeWorkflowExecution(t.Context(), options.ID, "")
			require.NoError(c, err)
			info := described.GetWorkflowExecutionInfo()
			require.NotEqual(c, first.GetRunID(), info.GetExecution().GetRunId())
			second = l.GetWorkflow(t.Context(), options.ID, info.GetExecution().GetRunId())
			require.Equal(c, backoff, info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime()),
				"the execution time is the due time")
			require.Contains(c, info.GetMemo().GetFields(), "kept")
			require.Contains(c, info.GetSearchAttributes().GetIndexedFields(), businessID.GetName())
		}, time.Minute, 10*time.Millisecond, "the run continues as new")
		return second
	}
	t.Run("comes back on time", func(t *testing.T) {
		t.Parallel()
		l := l.in(t)
		const backoff = 6 * time.Second // the signal comes before it is over
		run := begin(l, "kept", backoff)
		require.NoError(t, l.SignalWorkflow(t.Context(), run.GetID(), "", poke, nil))
		came := l.result(run)
		require.GreaterOrEqual(t, came.After, backoff, "a plain signal does not wake")
		require.Equal(t, 1, came.Signals)
	})
	t.Run("is woken by a signal with start", func(t *testing.T) {
		t.Parallel()
		l := l.in(t)
		run := begin(l, "signal-with-start", time.Hour)
		_, err := l.SignalWithStartWorkflow(t.Context(), run.GetID(), poke, nil, l.cold("signal-with-start"), wake, "")
		require.NoError(t, err)
		require.Equal(t, 1, l.result(run).Signals)
	})
	t.Run("is woken by a cancel", func(t *testing.T) {
		t.Parallel()
		l := l.in(t)
		run := begin(l, "cancel", time.Hour)
		require.NoError(t, l.CancelWorkflow(t.Context(), run.GetID(), ""))
		require.True(t, sdk.IsCanceledError(run.Get(l.context(), nil)))
	})
	t.Run("without one comes back within a second, whatever the start delay was", func(t *testing.T) {
		t.Parallel()
		l := l.in(t)
		run, err := l.ExecuteWorkflow(t.Context(), l.after("none", time.Second), again, time.Duration(0))
		require.NoError(t, err)
		first := run.GetRunID() // a handle goes on to the next run
		l.result(run)
		described, err := l.DescribeWorkflowExecution(t.Context(), run.GetID(), "")
		require.NoError(t, err)
		info := described.GetWorkflowExecutionInfo()
		require.NotEqual(t, first, info.GetExecution().GetRunId())
		require.LessOrEqual(t, info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime()), time.Second,
			"a chain of runs is slowed down to one a second, and no more")
	})
}

// A command that closes a run collides with an event that the task has not seen. The server
// refuses it, loses the marker of the local activity, and hands the task out again. A run
// can tell by the length of the history.
func TestTemporalCollision(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	began, release := make(chan struct{}, 2), make(chan error)
	ring := func(context.Context) error {
		began <- struct{}{}
		return <-release
	}
	var mu sync.Mutex
	var lengths []int
	ringing := func(ctx workflow.Context) error {
		mu.Lock()
		lengths = append(lengths, workflow.GetInfo(ctx).GetCurrentHistoryLength())
		mu.Unlock()
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteLocalActivity(ctx, ring).Get(ctx, nil)
	}
	l.work(func(r worker.Registry) { r.RegisterWorkflow(ringing) })
	run, err := l.ExecuteWorkflow(t.Context(), l.after("1", 0), ringing)
	require.NoError(t, err)
	<-began
	require.NoError(t, l.SignalWorkflow(t.Context(), run.GetID(), "", poke, nil))
	close(release)
	require.NoError(t, run.Get(l.context(), nil))
	require.Len(t, began, 1, "the local activity ran twice")
	require.Equal(t, 3, lengths[0], "a first task finds the start and its own two events")
	require.Greater(t, slices.Max(lengths), 4, "the task that is handed out again finds more than the signal")
}

// paced runs activities one after the other at the queue's rate, and records when each began.
type paced struct {
	mu    sync.Mutex
	began []time.Time
}

func (p *paced) run(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = append(p.began, time.Now())
	return nil
}

func (p *paced) starts() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.began)
}

// burst schedules n activities at once and waits for all of them.
func burst(ctx workflow.Context, queue string, n int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute})
	var futures []workflow.Future
	for range n {
		futures = append(futures, workflow.ExecuteActivity(ctx, "paced"))
	}
	for _, future := range futures {
		if err := future.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// limit sets the rate of an activity queue; a negative one removes it.
func (l *lab) limit(perSecond float32) {
	l.t.Helper()
	update := &workflowservice.UpdateTaskQueueConfigRequest_RateLimitUpdate{Reason: "test"}
	if perSecond >= 0 {
		update.RateLimit = &taskqueuepb.RateLimit{RequestsPerSecond: perSecond}
	}
	_, err := l.WorkflowService().UpdateTaskQueueConfig(l.t.Context(), &workflowservice.UpdateTaskQueueConfigRequest{
		Namespace: client.DefaultNamespace, TaskQueue: l.queue, TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, UpdateQueueRateLimit: update,
	})
	require.NoError(l.t, err)
}

// unload makes the server drop the queue and read it from its database again.
func (l *lab) unload() {
	l.t.Helper()
	conn, err := grpc.NewClient(shared(l.t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(l.t, err)
	defer func() { _ = conn.Close() }()
	answer, err := adminservice.NewAdminServiceClient(conn).ForceUnloadTaskQueuePartition(l.t.Context(),
		&adminservice.ForceUnloadTaskQueuePartitionRequest{
			Namespace: client.DefaultNamespace,
			TaskQueuePartition: &taskqueueserver.TaskQueuePartition{
				TaskQueue: l.queue, TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY,
			},
		})
	require.NoError(l.t, err)
	require.True(l.t, answer.GetWasLoaded())
}

func TestTemporalQueueLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := &paced{}
	register := func(r worker.Registry) {
		r.RegisterWorkflow(burst)
		r.RegisterActivityWithOptions(p.run, activity.RegisterOptions{Name: "paced"})
	}
	stop := l.work(register)
	begin := func(id string, n int) client.WorkflowRun {
		run, err := l.ExecuteWorkflow(t.Context(), l.after(id, 0), burst, l.queue, n)
		require.NoError(t, err)
		return run
	}
	const rate, n = 4, 24

	l.limit(rate)
	began := time.Now()
	require.NoError(t, begin("limited", n).Get(l.context(), nil))
	require.GreaterOrEqual(t, time.Since(began), time.Duration(n-2*rate-1)*time.Second/rate, "the rate is kept, after a burst of one second")

	// A worker that comes and goes, and a server that loads the queue again, leave the limit
	// unchanged.
	l.limit(0)
	stop()
	l.unload()
	l.work(register)
	held := begin("held", n)
	require.Never(t, func() bool { return len(p.starts()) > n }, 1500*time.Millisecond, 50*time.Millisecond,
		"nothing tells that nothing happens; at the rate of before, some would have begun")
	l.limit(-1)
	require.NoError(t, held.Get(l.context(), nil))
	require.Len(t, p.starts(), 2*n, "none was lost while the queue was paused")
}

// failing fails as configured, and records each attempt.
type failing struct {
	paced
	next time.Duration
}

func (f *failing) attempt(ctx context.Context) error {
	_ = f.run(ctx)
	if activity.GetInfo(ctx).Attempt > 1 {
		return nil
	}
	return sdk.NewApplicationErrorWithOptions("not yet", "", sdk.ApplicationErrorOptions{NextRetryDelay: f.next})
}

// retried runs one activity under a ladder of short steps.
func retried(ctx workflow.Context, all time.Duration) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: handOut, ScheduleToCloseTimeout: all,
		RetryPolicy: &sdk.RetryPolicy{InitialInterval: 10 * time.Millisecond, MaximumInterval: 100 * time.Millisecond},
	})
	return workflow.ExecuteActivity(ctx, "attempt").Get(ctx, nil)
}

func TestTemporalNextRetryDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next, all time.Duration
		attempts  int
	}{
		"none: the policy's own interval":     {0, time.Minute, 2},
		"outweighs the largest interval":      {1500 * time.Millisecond, time.Minute, 2},
		"past the end of all, fails at once":  {time.Hour, time.Minute, 1},
		"without an end of all, is only long": {time.Second, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, f := newLab(t), &failing{next: c.next}
			l.queue = queueOf(t) + c.next.String()
			l.work(func(r worker.Registry) {
				r.RegisterWorkflow(retried)
				r.RegisterActivityWithOptions(f.attempt, activity.RegisterOptions{Name: "attempt"})
			})
			run, err := l.ExecuteWorkflow(t.Context(), l.after("1", 0), retried, c.all)
			require.NoError(t, err)
			err = run.Get(l.context(), nil)
			starts := f.starts()
			require.Len(t, starts, c.attempts)
			if c.attempts == 1 {
				failure, ok := errors.AsType[*sdk.ActivityError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, enumspb.RETRY_STATE_TIMEOUT, failure.RetryState())
				return
			}
			require.NoError(t, err)
			require.GreaterOrEqual(t, starts[1].Sub(starts[0]), c.next)
		})
	}
}
