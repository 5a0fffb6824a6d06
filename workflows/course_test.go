package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// course runs a timer in workflow time: its clock jumps to the next event. The test sets the
// answers of the effects before the timer runs.
type course struct {
	*testing.T
	env *testsuite.TestWorkflowEnvironment
	// due is when the timer is due and its run begins.
	due  time.Time
	spec timer.Spec

	// ring is the report of the fast path, and ringing what happens during its attempt.
	ring    delivery.Report
	ringing func()
	// deliver makes the tries on the queue. By default no try is ever handed out.
	deliver func(c *course, try activity.Info) (delivery.Report, error)
	// runState answers how the delivery stands. By default nothing changed.
	runState func(c *course) (timer.RunState, error)

	// cold is how many changes arrive before the run's first task, as changes do that end a
	// start delay.
	cold int
	// info is the SDK's source for the next run.
	info *workflow.Info

	// deliveries are the deliveries given to the queue, with the queue's name and the time
	// since the timer was due. bounds are the limits of their waits.
	deliveries []given
	bounds     []time.Duration
}

type given struct {
	timer.Delivery
	info  activity.Info
	after time.Duration
}

func newCourse(t *testing.T) *course { return newCourseAt(t, time.Now().Truncate(time.Second)) }

func newCourseAt(t *testing.T, due time.Time) *course {
	s := &course{
		T: t, due: due,
		spec: timer.Spec{
			Key:       wire.Key{BusinessType: "x", BusinessID: "1"},
			Memo:      timer.Memo{Booking: "b", Revision: 1, CreatedAt: wire.At(due), DueAt: wire.At(due)},
			Behaviour: workflows.BehaviourNow,
		},
		ring:    delivery.Report{Result: delivery.ResultUseQueue},
		ringing: func() {},
		deliver: func(*course, activity.Info) (delivery.Report, error) {
			return delivery.Report{}, activity.ErrResultPending
		},
	}
	s.runState = func(s *course) (timer.RunState, error) { return timer.RunState{Latest: s.ring.Latest}, nil }
	s.env = newEnvironment()
	s.env.SetStartTime(due)
	s.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&around{course: s}}})
	s.register(workflows.ActivityFirstAttempt, func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
		s.ringing()
		return s.ring, nil
	})
	s.register(workflows.ActivityDeliver, func(ctx context.Context, delivery timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
		info := activity.GetInfo(ctx)
		if info.Attempt == 1 {
			s.deliveries = append(s.deliveries, given{Delivery: delivery, info: info, after: s.since()})
		}
		return s.deliver(s, info)
	})
	s.register(workflows.ActivityRunState, func(context.Context, timer.Spec) (timer.RunState, error) { return s.runState(s) })
	return s
}

func (s *course) register(name string, function any) {
	s.env.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
}

// since is the time since the timer was due.
func (s *course) since() time.Duration { return s.env.Now().Sub(s.due) }

// at is an instant after the due time.
func (s *course) at(after time.Duration) wire.Instant { return wire.At(s.due.Add(after)) }

// later calls a function that long after the timer is due.
func (s *course) later(after time.Duration, do func()) { s.env.RegisterDelayedCallback(do, after) }

func (s *course) signal(change timer.Change) { s.env.SignalWorkflow(workflows.SignalChange, change) }

// woken wakes the cold run: do sends that many changes, or cancels.
func (s *course) woken(changes int, do func()) {
	s.cold = max(changes, 1)
	s.later(0, do)
}

// around wraps the workflow: the test environment has no start delay, and does not tell an
// activity how long it may wait.
type around struct {
	interceptor.WorkerInterceptorBase
	interceptor.WorkflowInboundInterceptorBase
	interceptor.WorkflowOutboundInterceptorBase
	course *course
}

func (a *around) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &around{course: a.course, WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

func (a *around) Init(outbound interceptor.WorkflowOutboundInterceptor) error {
	a.WorkflowOutboundInterceptorBase.Next = outbound
	return a.WorkflowInboundInterceptorBase.Init(a)
}

func (a *around) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	if name == workflows.ActivityDeliver {
		a.course.bounds = append(a.course.bounds, workflow.GetActivityOptions(ctx).ScheduleToStartTimeout)
	}
	return a.WorkflowOutboundInterceptorBase.ExecuteActivity(ctx, name, args...)
}

func (a *around) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if workflow.GetInfo(ctx).WorkflowType.Name != workflows.TypeTimer {
		return a.WorkflowInboundInterceptorBase.ExecuteWorkflow(ctx, in)
	}
	changes := workflow.GetSignalChannel(ctx, workflows.SignalChange)
	_ = workflow.Await(ctx, func() bool { return changes.Len() >= a.course.cold }) // a cancel ends it, too
	result, err := a.WorkflowInboundInterceptorBase.ExecuteWorkflow(ctx, in)
	a.course.info = workflow.GetInfo(ctx)
	return result, err
}

// run runs the timer to the end of this run.
func (s *course) run() {
	s.Helper()
	require.NoError(s, s.env.SetMemoOnStart(map[string]any{workflows.MemoTimer: s.spec.Memo}))
	s.env.ExecuteWorkflow(workflows.TypeTimer, s.spec, workflows.Encode(nil))
	require.True(s, s.env.IsWorkflowCompleted())
}

// ended is how the timer ended with this run, and how long after it was due.
func (s *course) ended() (timer.Outcome, time.Duration) {
	s.Helper()
	var outcome timer.Outcome
	require.NoError(s, s.env.GetWorkflowError())
	require.NoError(s, s.env.GetWorkflowResult(&outcome))
	return outcome, s.since()
}

// backoff is how long the timer's next run is cold.
func (s *course) backoff() time.Duration {
	s.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(s, s.env.GetWorkflowError(), &again)
	return again.BackoffStartInterval
}

// next is the input of the timer's next run.
func (s *course) next() (next timer.Spec) {
	s.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(s, s.env.GetWorkflowError(), &again)
	require.NoError(s, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	return next
}
