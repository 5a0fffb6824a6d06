package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// older makes the delivery one that began under the first behaviour.
func (s *course) older() {
	s.spec.Behaviour = workflows.BehaviourInitial
	s.env.OnGetVersion("live-retries", workflow.DefaultVersion, workflow.Version(workflows.BehaviourLiveRetries)).Return(workflow.DefaultVersion)
}

func retryable(report delivery.Report) error {
	return temporal.NewApplicationErrorWithOptions("", "", temporal.ApplicationErrorOptions{Details: []any{report}, NonRetryable: true})
}

// How a delivery ends that began under the first behaviour: the server keeps its latest
// time, and what it says last decides.
func TestADeliveryOfTheFirstBehaviour(t *testing.T) {
	t.Parallel()
	busy := &delivery.Failure{Status: 503, Message: "HTTP 503"}
	before := delivery.Report{Result: delivery.ResultRetry, Attempt: 1, Failure: busy, PolicyVersion: 3}
	gone := delivery.Report{Result: delivery.ResultFailed, Attempt: 4, Failure: &delivery.Failure{Status: 410, Message: "HTTP 410"}}
	for name, c := range map[string]struct {
		first, report delivery.Report
		err           error
		status        timer.Status
		attempts      int
		message       string
	}{
		"delivered":                                {before, delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil, timer.Delivered, 2, ""},
		"failed for good":                          {before, delivery.Report{}, retryable(gone), timer.Failed, 4, "HTTP 410"},
		"expired before its next attempt":          {before, delivery.Report{}, retryable(delivery.Report{Result: delivery.ResultRetry, Attempt: 2, Failure: busy}), timer.Expired, 2, ""},
		"expired while it was held":                {before, delivery.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil), timer.Expired, 1, ""},
		"broken, with nothing known":               {delivery.Report{Result: delivery.ResultUseQueue}, delivery.Report{}, temporal.NewNonRetryableApplicationError("no such queue", "", nil), timer.Failed, 0, string(delivery.DeliveryBroken)},
		"broken, with details that are no report":  {delivery.Report{Result: delivery.ResultUseQueue}, delivery.Report{}, temporal.NewNonRetryableApplicationError("odd", "", nil, "text"), timer.Failed, 0, string(delivery.DeliveryBroken)},
		"broken after an attempt that was retried": {before, delivery.Report{}, temporal.NewNonRetryableApplicationError("odd", "", nil), timer.Expired, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.older()
			s.ring, s.ring.Timeout, s.ring.Latest = c.first, wire.Duration(5*time.Second), s.at(time.Hour)
			s.deliver = func(*course, activity.Info) (delivery.Report, error) { return c.report, c.err }
			s.run()
			require.False(t, s.deliveries[0].Live)
			require.Equal(t, 20*time.Second, s.deliveries[0].info.Deadline.Sub(s.deliveries[0].info.StartedTime).Round(time.Second),
				"as long as an attempt took by the policy of then")
			outcome := s.outcome()
			require.Equal(t, c.status, outcome.Status)
			require.Equal(t, c.attempts, outcome.Attempts)
			if c.message != "" {
				require.Contains(t, outcome.LastFailure.Message, c.message)
			}
		})
	}
}

// outcome is how the timer ended with this run, also where it failed.
func (s *course) outcome() (outcome timer.Outcome) {
	s.Helper()
	if failed, ok := errors.AsType[*temporal.ApplicationError](s.env.GetWorkflowError()); ok {
		require.NoError(s, failed.Details(&outcome))
		return outcome
	}
	outcome, _ = s.ended()
	return outcome
}

// A change and a cancel call a delivery of the first behaviour off; a wake, which
// gateways of then did not send, does too, and the timer begins anew.
func TestADeliveryOfTheFirstBehaviourIsInterrupted(t *testing.T) {
	t.Parallel()
	delay := wire.Duration(time.Hour)
	for name, c := range map[string]struct {
		interrupt func(*course)
		next      time.Duration
	}{
		"a change": {func(s *course) {
			s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: &delay}, At: s.at(time.Minute)})
		}, 61 * time.Minute},
		"a wake":   {func(s *course) { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(time.Minute)}) }, 0},
		"a cancel": {func(s *course) { s.env.CancelWorkflow() }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.older()
			s.later(time.Minute, func() { c.interrupt(s) })
			s.run()
			if c.next < 0 {
				require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()))
				return
			}
			require.Equal(t, s.at(c.next), s.next().DueAt)
			require.Equal(t, workflows.BehaviourNow, s.next().Behaviour)
		})
	}
}

// A delivery whose type has got a policy goes on on the queue of its type.
func TestADeliveryMovesToTheQueueOfItsType(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]bool{"first behaviour": true, "this one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			if older {
				s.older()
			}
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
			require.Equal(t, 2, s.outcome().Attempts)
			require.Equal(t, workflows.DefaultDeliveryQueue, s.deliveries[0].info.TaskQueue)
			require.Equal(t, workflows.DeliveryQueue("x"), s.deliveries[1].info.TaskQueue)
			require.Equal(t, workflows.StreamQueue("x"), s.deliveries[2].info.TaskQueue)
			if !older {
				require.Less(t, s.deliveries[2].info.HeartbeatTimeout, s.deliveries[1].info.HeartbeatTimeout, "a gateway that is killed is noticed soon")
			}
		})
	}
}
