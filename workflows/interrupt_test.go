package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// stage runs a timer that is due an hour from now, in workflow time.
func stage() (*testsuite.TestWorkflowEnvironment, timer.Spec) {
	env := newEnvironment()
	now := wire.At(time.Unix(1_800_000_000, 0))
	env.SetStartTime(now.Time())
	spec := timer.Spec{
		Key:       wire.Key{BusinessType: "x", BusinessID: "1"},
		Memo:      timer.Memo{Booking: "b", Revision: 1, CreatedAt: now, DueAt: now},
		Behaviour: workflows.BehaviourNow,
	}
	_ = env.SetMemoOnStart(map[string]any{workflows.MemoTimer: spec.Memo})
	return env, spec
}

func next(t *testing.T, env *testsuite.TestWorkflowEnvironment) (spec timer.Spec) {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &again)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &spec))
	return spec
}

// A cancel outweighs an earlier change, also after a worker had preloaded the timer.
func TestACancelOutweighsAChange(t *testing.T) {
	t.Parallel()
	env, spec := stage()
	delay := wire.Duration(time.Hour)
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
		env.SignalWorkflow(workflows.SignalChange, timer.Change{ID: "c", Terms: timer.Terms{Delay: &delay}, At: spec.DueAt})
		env.CancelWorkflow()
		return delivery.Report{Result: delivery.ResultInterrupted}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityFirstAttempt})
	env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, env.GetWorkflowError(), &cancelled)
}

// A run that continues keeps its type: a canary never becomes a timer that lists show.
func TestTheNextRunIsOfTheSameType(t *testing.T) {
	t.Parallel()
	for _, workflowType := range []string{workflows.TypeTimer, workflows.TypeCanary} {
		env, spec := stage()
		env.RegisterActivityWithOptions(func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
			return delivery.Report{Result: delivery.ResultWorkerStopping}, nil
		}, activity.RegisterOptions{Name: workflows.ActivityFirstAttempt})
		env.ExecuteWorkflow(workflowType, spec, workflows.Encode(nil))
		var again *workflow.ContinueAsNewError
		require.ErrorAs(t, env.GetWorkflowError(), &again)
		require.Equal(t, workflowType, again.WorkflowType.Name)
	}
}

// begunElsewhere is a first attempt that another worker began. After an unanswered question
// to that worker the attempt is made, under this number, and counted.
func begunElsewhere(env *testsuite.TestWorkflowEnvironment, number int) (rung *int) {
	rung = new(int)
	env.RegisterActivityWithOptions(func(_ context.Context, d timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
		if !d.Asked {
			return delivery.Report{Result: delivery.ResultElsewhere, Worker: "other"}, nil
		}
		*rung++
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: number}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityFirstAttempt})
	return rung
}

// A worker that finds that another one began the attempt asks that one, and rings only
// without an answer.
func TestAnAttemptThatAnotherWorkerBegan(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]delivery.Result{"it tells": delivery.ResultDelivered, "it knows nothing": delivery.ResultUseQueue} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, spec := stage()
			rung := begunElsewhere(env, 1)
			env.RegisterActivityWithOptions(func(ctx context.Context, _ timer.Delivery) (delivery.Report, error) {
				info := activity.GetInfo(ctx)
				require.Equal(t, workflows.ReceiptQueue("other"), info.TaskQueue)
				require.Equal(t, 5*time.Second, info.HeartbeatTimeout, "a frozen worker is found out")
				return delivery.Report{Result: answer, Attempt: 1}, nil
			}, activity.RegisterOptions{Name: workflows.ActivityAsk})
			env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))
			require.NoError(t, env.GetWorkflowError())
			want := 0
			if answer == delivery.ResultUseQueue {
				want = 1
			}
			require.Equal(t, want, *rung)
		})
	}
}

// A stopped worker cannot be asked: it has left its receipt in the run.
func TestAReceiptThatWasLeft(t *testing.T) {
	t.Parallel()
	env, spec := stage()
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
		env.SignalWorkflow(workflows.SignalReceipt, delivery.Report{Result: delivery.ResultDelivered, Attempt: 1})
		return delivery.Report{Result: delivery.ResultElsewhere, Worker: "other"}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityFirstAttempt})
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery) (delivery.Report, error) {
		t.Error("a worker that stopped is asked")
		return delivery.Report{}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityAsk})
	env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(t, env.GetWorkflowError())
	var outcome timer.Outcome
	require.NoError(t, env.GetWorkflowResult(&outcome))
	require.Equal(t, 1, outcome.Attempts)
}

// A receipt counts, in place of a second ring, even if its worker stores it while it is
// asked and stops before it answers.
func TestAReceiptThatIsLeftWhileItIsAskedFor(t *testing.T) {
	t.Parallel()
	env, spec := stage()
	rung := begunElsewhere(env, 2)
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery) (delivery.Report, error) {
		env.SignalWorkflow(workflows.SignalReceipt, delivery.Report{Result: delivery.ResultDelivered, Attempt: 1})
		return delivery.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	}, activity.RegisterOptions{Name: workflows.ActivityAsk})
	env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(t, env.GetWorkflowError())
	var outcome timer.Outcome
	require.NoError(t, env.GetWorkflowResult(&outcome))
	require.Equal(t, 1, outcome.Attempts)
	require.Zero(t, *rung)
}

// The continued timer shows refused changes, and a later applied change does not erase them.
func TestRefusedChangesAreNoted(t *testing.T) {
	t.Parallel()
	env, spec := stage()
	for n := range timer.MaxRefusals {
		spec.Refusals = append(spec.Refusals, timer.Refusal{Change: string(rune('a' + n)), At: spec.DueAt})
	}
	early, delay, priority := spec.DueAt.Add(time.Minute), wire.Duration(time.Hour), 1
	env.RegisterActivityWithOptions(func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
		for _, change := range []timer.Change{
			{ID: "moved", Terms: timer.Terms{Delay: &delay}},
			{ID: "refused", Terms: timer.Terms{LatestAt: &early}},
			{ID: "edited", Terms: timer.Terms{Priority: &priority}},
		} {
			change.At = spec.DueAt
			env.SignalWorkflow(workflows.SignalChange, change)
		}
		return delivery.Report{Result: delivery.ResultInterrupted}, nil
	}, activity.RegisterOptions{Name: workflows.ActivityFirstAttempt})
	env.ExecuteWorkflow(workflows.TypeTimer, spec, workflows.Encode(nil))
	after := next(t, env)
	require.Equal(t, 3, after.Revision)
	require.Len(t, after.Refusals, timer.MaxRefusals, "the oldest goes")
	refusal, refused := after.Refusals.Find("refused")
	require.True(t, refused)
	require.Equal(t, "/latest_at", refusal.FieldErrors[0].Pointer)
	for _, applied := range []string{"moved", "edited", "a"} {
		_, refused = after.Refusals.Find(applied)
		require.False(t, refused, applied)
	}
}

// A delivery that failed beside a change ends in the next run, whatever has arrived there meanwhile.
func TestAFailureEndsBeforeWhatFollows(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(s *course){
		"nothing": func(*course) {},
		"an edit": func(s *course) { s.signal(timer.Change{ID: "2", Terms: timer.Terms{Priority: ptr(1)}}) },
		"a fire":  func(s *course) { s.signal(timer.Change{ID: "2", Ring: true, At: s.at(0)}) },
		"a pause": func(s *course) { s.signal(timer.Change{ID: "2", Pause: &timer.Pause{Stop: true}, At: s.at(0)}) },
		"a move": func(s *course) {
			due := s.at(time.Hour)
			s.signal(timer.Change{ID: "2", Terms: timer.Terms{DueAt: &due}, At: s.at(0)})
		},
		"a cancel": func(s *course) { s.env.CancelWorkflow() },
	} {
		begin := func(t *testing.T) *course {
			s := newCourse(t)
			s.spec.Ongoing = &delivery.Report{
				Result: delivery.ResultFailed, Attempt: 2, EndedAt: s.at(0), Failure: &delivery.Failure{Status: 410, Message: "HTTP 410"},
			}
			if name != "nothing" {
				s.woken(1, func() { event(s) })
			}
			return s
		}
		t.Run("one-shot, "+name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.run()
			var failed *temporal.ApplicationError
			require.ErrorAs(t, s.env.GetWorkflowError(), &failed)
			require.Equal(t, workflows.ErrorFailed, failed.Type())
		})
		t.Run("recurring, "+name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			hour := wire.Duration(time.Hour)
			s.spec.Series = &timer.Series{Rule: recurrence.Rule{Every: &hour}, Cursor: recurrence.Cursor{Booked: wire.At(s.due.Add(-time.Hour))}, Number: 1, Resumed: true}
			s.run()
			if name == "a cancel" { // it ends what would have followed
				require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()))
				return
			}
			series := s.next().Series
			require.Equal(t, []any{timer.Failed, 1, 2}, []any{series.Last.Status, series.Last.Occurrence, series.Last.Attempts})
			require.Nil(t, series.Interrupted, "it does not ring again")
			require.Equal(t, name == "a fire", series.Extra)
			require.Equal(t, name == "a pause", s.next().Resting())
			require.Empty(t, s.deliveries)
		})
	}
}

// A cancel tells the attempts before it, of this round and of earlier ones, and how an occurrence
// ended that was delivered meanwhile. Without any it tells nothing.
func TestACancelTellsTheAttempts(t *testing.T) {
	t.Parallel()
	woken := func(s *course) { s.woken(1, s.env.CancelWorkflow) }
	for name, c := range map[string]struct {
		given func(s *course)
		want  []int
		ended timer.Status
	}{
		"at rest": {woken, nil, ""},
		"on its ladder": {func(s *course) {
			woken(s)
			s.spec.Ongoing = &delivery.Report{Result: delivery.ResultRetry, Attempt: 2}
		}, []int{2, 0}, timer.Cancelled},
		"after another round": {func(s *course) {
			woken(s)
			s.spec.DueAt, s.spec.Rung = s.at(time.Hour), &timer.Rung{DueAt: s.at(0), Attempts: 3}
		}, []int{0, 3}, timer.Cancelled},
		"during its first attempt": {func(s *course) {
			s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1, RetryIn: wire.Duration(time.Hour)}
			s.ringing = s.env.CancelWorkflow
		}, []int{1, 0}, timer.Cancelled},
		"during the delivery of an occurrence": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring = delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}
			s.ringing = s.env.CancelWorkflow
		}, []int{1, 0}, timer.Delivered},
		"as the end of an occurrence without attempts is told": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring = delivery.Report{Result: delivery.ResultExpired, OnFailed: true}
			s.env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) { s.env.CancelWorkflow() })
		}, []int{0, 0}, timer.Expired},
		"during the last attempt for an occurrence": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring = delivery.Report{Result: delivery.ResultFailed, Attempt: 1}
			s.ringing = s.env.CancelWorkflow
		}, []int{1, 0}, timer.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			c.given(s)
			s.run()
			var cancelled *temporal.CanceledError
			require.ErrorAs(t, s.env.GetWorkflowError(), &cancelled)
			require.Equal(t, c.want != nil, cancelled.HasDetails())
			if c.want != nil {
				var outcome timer.Outcome
				require.NoError(t, cancelled.Details(&outcome))
				require.Equal(t, c.ended, outcome.Status)
				require.Equal(t, c.want, []int{outcome.Attempts, outcome.Earlier})
			}
		})
	}
}
