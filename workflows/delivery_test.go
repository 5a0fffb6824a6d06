package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// A timer that is held back, without a try, expires at its latest time under the live policy.
func TestExpiresAtItsLatestTime(t *testing.T) {
	t.Parallel()
	lateness := int64(7)
	failed := delivery.Report{
		Result: delivery.ResultRetry, Attempt: 2, LatenessMS: &lateness, PolicyVersion: 3,
		Failure: &delivery.Failure{Status: 503, Message: "HTTP 503"},
	}
	for name, c := range map[string]struct {
		// known is the latest time when the delivery begins, and live is the policy's at
		// each query.
		known   time.Duration
		live    []time.Duration
		errors  int
		last    *delivery.Report
		expires time.Duration
	}{
		"as it was":                      {known: time.Hour, live: []time.Duration{time.Hour}, expires: time.Hour},
		"passed already":                 {known: -time.Second, live: []time.Duration{-time.Second}, expires: 0},
		"put off once":                   {known: time.Hour, live: []time.Duration{2 * time.Hour, 2 * time.Hour}, expires: 2 * time.Hour},
		"put off twice":                  {known: time.Minute, live: []time.Duration{time.Hour, 3 * time.Hour, 3 * time.Hour}, expires: 3 * time.Hour},
		"shortened after it was put off": {known: time.Hour, live: []time.Duration{3 * time.Hour, 2 * time.Hour}, expires: 3 * time.Hour},
		"after two attempts":             {known: time.Hour, live: []time.Duration{time.Hour}, last: &failed, expires: time.Hour},
		"asked in vain for a while":      {known: time.Hour, live: []time.Duration{time.Hour}, errors: 5, expires: time.Hour + 33*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring.Latest, s.ring.PolicyVersion = s.at(c.known), 3
			s.runState = func(*course) (timer.RunState, error) {
				if c.errors--; c.errors >= 0 {
					return timer.RunState{}, errors.New("no answer")
				}
				live := c.live[0]
				c.live = c.live[1:]
				return timer.RunState{Latest: s.at(live), Last: c.last, PolicyVersion: 3}, nil
			}
			s.run()
			outcome, after := s.ended()
			require.Equal(t, timer.Expired, outcome.Status)
			require.InDelta(t, c.expires.Seconds(), after.Seconds(), 1)
			require.Empty(t, c.live, "it asked no less often")
			require.LessOrEqual(t, len(s.deliveries), 1)
			if c.last != nil {
				require.Equal(t, 2, outcome.Attempts)
				require.Equal(t, &lateness, outcome.LatenessMS)
				require.Equal(t, failed.Failure, outcome.LastFailure)
			}
		})
	}
}

// A query may fail for weeks, because no worker has the key of the type's secrets. It leaves
// room in the history, and the answer arrives soon after it exists. Each query is tried
// twice, with the events of a timer, a task and a marker.
func TestAskedInVainForWeeks(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	const weeks, events, most = 6 * 7 * 24 * time.Hour, 6, 51_200
	s := newCourse(t)
	s.ring.Latest, s.ring.PolicyVersion = s.at(time.Hour), 3
	asked := 0
	s.runState = func(s *course) (timer.RunState, error) {
		if asked++; s.since() < weeks && asked < most {
			return timer.RunState{}, errors.New("no key of that name is configured here")
		}
		return timer.RunState{Latest: s.ring.Latest, PolicyVersion: 3}, nil
	}
	s.run()
	outcome, after := s.ended()
	require.Equal(t, timer.Expired, outcome.Status)
	require.GreaterOrEqual(t, after, weeks)
	require.LessOrEqual(t, after, weeks+tuning.AskAgainLongest+time.Minute)
	require.Less(t, asked/2*events, most)
}

// After an answer, the next failed query is repeated soon.
func TestAskedInVainTwice(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring.Latest = s.at(time.Hour)
	s.runState = func(s *course) (timer.RunState, error) {
		switch since := s.since(); {
		case since < 4*time.Hour, since >= 9*time.Hour && since < 9*time.Hour+tuning.AskAgain/2:
			return timer.RunState{}, errors.New("no answer")
		default:
			return timer.RunState{Latest: s.at(9 * time.Hour)}, nil
		}
	}
	s.run()
	outcome, after := s.ended()
	require.Equal(t, timer.Expired, outcome.Status)
	require.InDelta(t, (9*time.Hour + tuning.AskAgain).Seconds(), after.Seconds(), 2)
}

// A timer's own latest time also holds while the policy is unknown.
func TestExpiresByItsOwnTerms(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.spec.ExpiresAfter = wire.Duration(time.Hour)
	s.runState = func(*course) (timer.RunState, error) { return timer.RunState{Latest: s.spec.Latest(0)}, nil }
	s.run()
	outcome, after := s.ended()
	require.Equal(t, timer.Expired, outcome.Status)
	require.Equal(t, time.Hour, after)
}

// A policy that has lost its latest time lets the timer go on.
func TestNoLongerExpires(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring.Latest = s.at(time.Hour)
	s.runState = func(*course) (timer.RunState, error) { return timer.RunState{}, nil }
	s.later(100*time.Hour, s.env.CancelWorkflow)
	s.run()
	require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()))
	require.Equal(t, 100*time.Hour, s.since())
}

// The server bounds an attempt by the maximum of any policy, not by the policy in force when
// the delivery began, and notices a dead worker long before that.
func TestNoLimitOfATryIsFrozen(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring.Timeout, s.ring.Latest = wire.Duration(time.Second), s.at(time.Hour)
	s.deliver = func(*course, activity.Info) (delivery.Report, error) {
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}, nil
	}
	s.run()
	outcome, _ := s.ended()
	require.Equal(t, timer.Delivered, outcome.Status)
	info := s.deliveries[0].info
	require.Greater(t, info.Deadline.Sub(info.StartedTime), delivery.MaxAttemptTimeout+30*time.Second)
	require.Equal(t, 25*time.Second, info.HeartbeatTimeout)
}

// A delivery that Temporal has lost continues from where it was.
func TestWokenGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	lateness := int64(7)
	last := delivery.Report{
		Result: delivery.ResultRetry, Attempt: 3, LatenessMS: &lateness, RetryIn: wire.Duration(time.Minute), PolicyVersion: 3,
		Failure: &delivery.Failure{Status: 500, Message: "HTTP 500"},
	}
	first := delivery.Report{Result: delivery.ResultRetry, Attempt: 1, LatenessMS: &lateness, PolicyVersion: 3}
	for name, c := range map[string]struct {
		recorded *delivery.Report
		version  int
		prior    delivery.Report
		queue    string
	}{
		"after three attempts":       {&last, 3, last, workflows.DeliveryQueue("x")},
		"nothing was recorded since": {nil, 3, first, workflows.DeliveryQueue("x")},
		"its policy is gone":         {&last, 0, last, workflows.DefaultDeliveryQueue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = first
			s.runState = func(*course) (timer.RunState, error) {
				return timer.RunState{Last: c.recorded, PolicyVersion: c.version}, nil
			}
			s.later(time.Hour, func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Hour)}) })
			s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
				if len(s.deliveries) == 1 {
					return delivery.Report{}, activity.ErrResultPending
				}
				return delivery.Report{Result: delivery.ResultDelivered, Attempt: c.prior.Attempt + 1, LatenessMS: &lateness}, nil
			}
			s.run()
			outcome, after := s.ended()
			require.Equal(t, timer.Delivered, outcome.Status)
			require.Equal(t, time.Hour, after)
			require.Len(t, s.deliveries, 2)
			require.Equal(t, 1, s.deliveries[0].Prior.Attempt)
			again := s.deliveries[1]
			require.Equal(t, c.queue, again.info.TaskQueue)
			prior := c.prior
			prior.PolicyVersion = c.version
			require.Equal(t, prior, *again.Prior)
		})
	}
}

// A timer that is woken while its state is unknown does not start again either.
func TestWokenInVain(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
	asked := 0
	s.runState = func(*course) (timer.RunState, error) {
		if asked++; asked < 5 {
			return timer.RunState{}, errors.New("no answer")
		}
		return timer.RunState{}, nil
	}
	s.later(time.Hour, func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Hour)}) })
	s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
		if len(s.deliveries) == 1 {
			return delivery.Report{}, activity.ErrResultPending
		}
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil
	}
	s.run()
	outcome, _ := s.ended()
	require.Equal(t, timer.Delivered, outcome.Status)
	require.Equal(t, 1, s.deliveries[1].Prior.Attempt)
}

// A timer that is woken again during its query does not query twice.
func TestWokenTwice(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
	wake := func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Hour)}) }
	s.later(time.Hour, wake)
	asked := 0
	s.runState = func(*course) (timer.RunState, error) {
		asked++
		wake()
		return timer.RunState{}, nil
	}
	s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
		if len(s.deliveries) == 1 {
			return delivery.Report{}, activity.ErrResultPending
		}
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil
	}
	s.run()
	require.Equal(t, timer.Delivered, s.outcome().Status)
	require.Equal(t, 1, asked)
}

// A delivery that was lost once and continues does not start again when its latest time is
// queried.
func TestWokenOnce(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1, Latest: s.at(3 * time.Hour)}
	s.runState = func(s *course) (timer.RunState, error) {
		if s.since() < 3*time.Hour {
			return timer.RunState{Latest: s.at(3 * time.Hour)}, nil
		}
		return timer.RunState{Latest: s.at(5 * time.Hour)}, nil // it was put off
	}
	s.later(time.Hour, func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Hour)}) })
	s.run()
	outcome, after := s.ended()
	require.Equal(t, timer.Expired, outcome.Status)
	require.Equal(t, 5*time.Hour, after)
	require.Len(t, s.deliveries, 2)
}

// A change ends the delivery, and a wakeup beside it does not continue it.
func TestAChangeEndsADelivery(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1, Latest: s.at(9 * time.Hour)}
	delay := wire.Duration(time.Hour)
	s.later(time.Hour, func() {
		s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Hour)})
		s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: &delay}, At: s.at(time.Hour)})
	})
	s.run()
	next := s.next()
	require.Equal(t, s.at(2*time.Hour), next.DueAt)
	require.Len(t, s.deliveries, 1)
}

// The ladder ends when the activity says so, and an unexplained end is a failure.
func TestADeliveryEnds(t *testing.T) {
	t.Parallel()
	report := delivery.Report{Result: delivery.ResultFailed, Attempt: 4, Failure: &delivery.Failure{Status: 410, Message: "HTTP 410"}}
	for name, c := range map[string]struct {
		err      error
		attempts int
		message  string
	}{
		"with a report": {temporal.NewNonRetryableApplicationError("HTTP 410", "failed", nil, report), 4, "HTTP 410"},
		"without one":   {temporal.NewNonRetryableApplicationError("nobody knows", "", nil), 1, string(delivery.DeliveryBroken)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
			s.deliver = func(*course, activity.Info) (delivery.Report, error) { return delivery.Report{}, c.err }
			s.run()
			var failed *temporal.ApplicationError
			require.ErrorAs(t, s.env.GetWorkflowError(), &failed)
			var outcome timer.Outcome
			require.NoError(t, failed.Details(&outcome))
			require.Equal(t, timer.Failed, outcome.Status)
			require.Equal(t, c.attempts, outcome.Attempts)
			require.Contains(t, outcome.LastFailure.Message, c.message)
		})
	}
}

// A delivery moves to the queue of its type when the type gets a policy.
func TestADeliveryMovesToTheQueueOfItsType(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	moved := 0
	s.deliver = func(*course, activity.Info) (delivery.Report, error) {
		switch moved++; moved {
		case 1: // the type has got a policy, and with it a queue
			return delivery.Report{Result: delivery.ResultUseQueue, Attempt: 1, PolicyVersion: 1}, nil
		case 2: // its receivers connect by themselves
			return delivery.Report{Result: delivery.ResultUseQueue, Attempt: 1, PolicyVersion: 2, Stream: true}, nil
		}
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil
	}
	s.run()
	outcome, _ := s.ended()
	require.Equal(t, 2, outcome.Attempts)
	require.Equal(t, workflows.DefaultDeliveryQueue, s.deliveries[0].info.TaskQueue)
	require.Equal(t, workflows.DeliveryQueue("x"), s.deliveries[1].info.TaskQueue)
	require.Equal(t, workflows.StreamQueue("x"), s.deliveries[2].info.TaskQueue)
	require.Less(t, s.deliveries[2].info.HeartbeatTimeout, s.deliveries[1].info.HeartbeatTimeout, "a gateway that is killed is noticed soon")
}

// outcome is how the timer ended with this run, also if it failed.
func (s *course) outcome() (outcome timer.Outcome) {
	s.Helper()
	if failed, ok := errors.AsType[*temporal.ApplicationError](s.env.GetWorkflowError()); ok {
		require.NoError(s, failed.Details(&outcome))
		return outcome
	}
	outcome, _ = s.ended()
	return outcome
}
