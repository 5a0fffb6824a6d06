package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/workflows"
)

// How a job ends: its counts are its result, also after a stop.
func TestAJobEnds(t *testing.T) {
	t.Parallel()
	order := job.Bulk{ID: "a", Operation: job.Redeliver, Filter: timer.Filter{BusinessType: "x"}, PerSecond: 5}
	seven := 7
	counts := job.BulkProgress{Tally: job.Tally{Found: &seven, Done: 3, Skipped: 1}}
	for name, c := range map[string]struct {
		work     func(try int32) (job.BulkProgress, error)
		cancel   time.Duration
		tries    int
		canceled bool
		counts   job.BulkProgress
	}{
		"done": {
			work:  func(int32) (job.BulkProgress, error) { return counts, nil },
			tries: 1, counts: counts,
		},
		"done after its workers had left": {
			work: func(try int32) (job.BulkProgress, error) {
				if try < 9 { // the test environment makes ten at most
					return job.BulkProgress{}, errors.New("Temporal does not answer")
				}
				return counts, nil
			},
			tries: 9, counts: counts,
		},
		"stopped": {
			work:  func(int32) (job.BulkProgress, error) { return counts, temporal.NewCanceledError(counts) },
			tries: 1, canceled: true, counts: counts,
		},
		"stopped while no worker had it": {
			work:   func(int32) (job.BulkProgress, error) { return job.BulkProgress{}, activity.ErrResultPending },
			cancel: time.Hour, tries: 1, canceled: true,
		},
		"stopped, and told so in words that are no counts": {
			work: func(int32) (job.BulkProgress, error) {
				return counts, temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED")
			},
			tries: 1, canceled: true,
		},
		"failed": {
			work: func(int32) (job.BulkProgress, error) {
				return counts, temporal.NewNonRetryableApplicationError("cannot go on", "", nil)
			},
			tries: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment()
			tries := 0
			env.RegisterActivityWithOptions(func(ctx context.Context, got job.Bulk) (job.BulkProgress, error) {
				info := activity.GetInfo(ctx)
				require.Equal(t, order, got)
				require.Equal(t, workflows.JobQueue, info.TaskQueue)
				require.Equal(t, 30*time.Second, info.HeartbeatTimeout, "a worker that is silent is replaced")
				require.Equal(t, 24*time.Hour, info.Deadline.Sub(info.StartedTime).Round(time.Hour))
				tries++
				return c.work(info.Attempt)
			}, activity.RegisterOptions{Name: workflows.ActivityBulk})
			if c.cancel > 0 {
				env.RegisterDelayedCallback(env.CancelWorkflow, c.cancel)
			}
			env.ExecuteWorkflow(workflows.TypeBulk, order)
			err := env.GetWorkflowError()
			require.Equal(t, c.tries, tries)
			var done job.BulkProgress
			stopped, canceled := errors.AsType[*temporal.CanceledError](err)
			require.Equal(t, c.canceled, canceled, "%v", err)
			switch {
			case canceled:
				require.Equal(t, c.counts.Found != nil, stopped.HasDetails())
				if stopped.HasDetails() {
					require.NoError(t, stopped.Details(&done))
				}
			case name == "failed":
				require.ErrorContains(t, err, "cannot go on")
			default:
				require.NoError(t, err)
				require.NoError(t, env.GetWorkflowResult(&done))
			}
			require.Equal(t, c.counts, done)
		})
	}
}

// lostWorker makes each activity end with an error after a minute: Temporal does not retry
// it once it must stop.
type lostWorker struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	err error
}

func (s *lostWorker) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	s.WorkflowInboundInterceptorBase.Next = next
	return s
}

func (s *lostWorker) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	s.WorkflowOutboundInterceptorBase.Next = outbound
	return s.WorkflowInboundInterceptorBase.Next.Init(s)
}

func (s *lostWorker) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return s.WorkflowInboundInterceptorBase.Next.ExecuteWorkflow(ctx, in)
}

func (s *lostWorker) ExecuteActivity(ctx workflow.Context, _ string, _ ...any) workflow.Future {
	future, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		stopped, _ := workflow.NewDisconnectedContext(ctx)
		_ = workflow.Sleep(stopped, time.Minute)
		stored := temporal.GetDefaultFailureConverter() // Temporal's own details are text, not Go values
		set.SetError(stored.FailureToError(stored.ErrorToFailure(s.err)))
	})
	return future
}

// reports answers a workflow that asks what its activity has last reported.
func reports(env *testsuite.TestWorkflowEnvironment, last any, err error) {
	env.RegisterActivityWithOptions(func(context.Context) (any, error) { return last, err },
		activity.RegisterOptions{Name: workflows.ActivityLastHeartbeat})
}

// A stopped job whose progress cannot be read is stopped nevertheless.
func TestAJobIsStoppedWhoseProgressCannotBeRead(t *testing.T) {
	t.Parallel()
	env := newEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{
		&lostWorker{err: temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED")},
	}})
	reports(env, nil, errors.New("Temporal does not answer"))
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
	env.ExecuteWorkflow(workflows.TypeBulk, job.Bulk{})
	stopped, canceled := errors.AsType[*temporal.CanceledError](env.GetWorkflowError())
	require.True(t, canceled, "%v", env.GetWorkflowError())
	require.False(t, stopped.HasDetails())
}

// A job whose worker had died, or lost touch with Temporal, is stopped and not failed.
func TestAJobIsStoppedWhoseWorkerIsLost(t *testing.T) {
	t.Parallel()
	seven := 7
	told := job.BulkProgress{Tally: job.Tally{Found: &seven, Done: 3, Skipped: 1}}
	read := job.BulkProgress{Tally: job.Tally{Found: &seven, Done: 2}}
	notStarted := temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED")
	for name, c := range map[string]struct {
		err  error
		read *job.BulkProgress
		want *job.BulkProgress
	}{
		"silent":                   {temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil, told), &read, &told},
		"failed":                   {temporal.NewApplicationError("context canceled", "", told), &read, &told},
		"failed, and told nothing": {temporal.NewApplicationError("context canceled", ""), nil, nil},
		"failed, and had told":     {temporal.NewApplicationError("context canceled", ""), &read, &read},
		"between two attempts":     {notStarted, &read, &read},
		"before the first attempt": {notStarted, nil, nil},
	} {
		for _, stop := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, stopped: %t", name, stop), func(t *testing.T) {
				t.Parallel()
				env := newEnvironment()
				env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&lostWorker{err: c.err}}})
				reports(env, c.read, nil)
				if stop {
					env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
				}
				env.ExecuteWorkflow(workflows.TypeBulk, job.Bulk{})
				stopped, canceled := errors.AsType[*temporal.CanceledError](env.GetWorkflowError())
				require.Equal(t, stop || temporal.IsCanceledError(c.err), canceled, "%v", env.GetWorkflowError())
				if !stop {
					return
				}
				require.Equal(t, c.want != nil, stopped.HasDetails())
				if c.want != nil {
					var done job.BulkProgress
					require.NoError(t, stopped.Details(&done))
					require.Equal(t, *c.want, done)
				}
			})
		}
	}
}
