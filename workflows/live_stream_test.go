package workflows_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// What nobody takes from the queue of a stream comes back when its time there is over, and
// goes on where both links can be taken. What was tried before is known there.
func TestWhatNoReceiverTakes(t *testing.T) {
	t.Parallel()
	failed := timer.Report{Result: timer.ResultRetry, Attempt: 1, PolicyVersion: 3, RetryIn: timer.Duration(time.Second)}
	for name, tried := range map[string]error{
		"nothing was tried": nil, "it was tried once": temporal.NewApplicationErrorWithOptions("", "", temporal.ApplicationErrorOptions{Details: []any{failed}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			handed := timer.Handover{Link: timer.LinkCallback, At: s.at(0), Wait: timer.Duration(30 * time.Second)}
			s.ring = timer.Report{Result: timer.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			s.deliver = func(s *course, _ activity.Info) (timer.Report, error) {
				if len(s.deliveries) == 1 {
					return timer.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, tried)
				}
				return timer.Report{Result: timer.ResultDelivered, Attempt: 2}, nil
			}
			s.run()
			outcome, _ := s.ended()
			require.Equal(t, timer.Delivered, outcome.Status)
			require.Len(t, s.deliveries, 2)
			first, second := s.deliveries[0], s.deliveries[1]
			require.Equal(t, workflows.StreamQueue("x"), first.info.TaskQueue)
			require.Equal(t, &handed, first.Prior.Handed)
			require.Equal(t, workflows.DeliveryQueue("x"), second.info.TaskQueue)
			handed.Missed = true
			require.Equal(t, &handed, second.Prior.Handed)
			require.Equal(t, tried != nil, second.Prior.Attempt == 1)
		})
	}
}

// Who is woken while it waits for a receiver waits for no longer than it would have: the other
// link is tried when it was to be, however often it is woken.
func TestWokenWhileItWaitsForAReceiver(t *testing.T) {
	t.Parallel()
	const wait = 10 * time.Minute
	for name, c := range map[string]struct {
		wait   time.Duration
		woken  []time.Duration
		bounds []time.Duration
	}{
		"once":                       {wait, []time.Duration{4 * time.Minute}, []time.Duration{wait, 6 * time.Minute}},
		"time and again":             {wait, []time.Duration{time.Minute, 2 * time.Minute, 9 * time.Minute}, []time.Duration{wait, 9 * time.Minute, 8 * time.Minute, time.Minute}},
		"when it is over":            {wait, []time.Duration{wait + time.Minute}, []time.Duration{wait, time.Second}},
		"where it waits for so long": {0, []time.Duration{time.Hour}, []time.Duration{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			handed := timer.Handover{Link: timer.LinkFallback, At: s.at(-5 * time.Second), Wait: timer.Duration(c.wait)}
			s.ring = timer.Report{Result: timer.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			s.runState = func(*course) (timer.RunState, error) { return timer.RunState{PolicyVersion: 3}, nil }
			for n, at := range c.woken {
				s.later(at, func() { s.signal(timer.Change{ID: strconv.Itoa(n), Wake: true, At: s.at(at)}) })
			}
			s.deliver = func(s *course, _ activity.Info) (timer.Report, error) {
				switch len(s.deliveries) {
				case len(c.bounds): // its time there is over
					return timer.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
				case len(c.bounds) + 1:
					return timer.Report{Result: timer.ResultDelivered, Attempt: 1}, nil
				default:
					return timer.Report{}, activity.ErrResultPending
				}
			}
			s.run()
			outcome, _ := s.ended()
			require.Equal(t, timer.Delivered, outcome.Status)
			require.Equal(t, append(c.bounds, 0), s.bounds)
			require.True(t, s.deliveries[len(c.bounds)].Prior.Handed.Missed)
		})
	}
}

// What is handed over once more has its own time.
func TestHandedOverAgain(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	handed := func(after, wait time.Duration) timer.Report {
		return timer.Report{
			Result: timer.ResultUseQueue, PolicyVersion: 3, Stream: true,
			Handed: &timer.Handover{Link: timer.LinkFallback, At: s.at(after), Wait: timer.Duration(wait)},
		}
	}
	s.ring = handed(0, time.Minute)
	s.runState = func(*course) (timer.RunState, error) { return timer.RunState{PolicyVersion: 3}, nil }
	s.later(30*time.Second, func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(30 * time.Second)}) })
	s.deliver = func(s *course, _ activity.Info) (timer.Report, error) {
		switch len(s.deliveries) {
		case 1:
			return timer.Report{}, activity.ErrResultPending
		case 2:
			return handed(31*time.Second, time.Hour), nil
		default:
			return timer.Report{Result: timer.ResultDelivered, Attempt: 1}, nil
		}
	}
	s.run()
	require.Equal(t, []time.Duration{time.Minute, 30 * time.Second, time.Hour}, s.bounds)
}
