package workflows_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// An attempt that no receiver takes from a stream's queue returns when its time there is
// over, and goes on where both links are possible. The earlier attempts are known there.
func TestWhatNoReceiverTakes(t *testing.T) {
	t.Parallel()
	failed := delivery.Report{Result: delivery.ResultRetry, Attempt: 1, PolicyVersion: 3, RetryIn: wire.Duration(time.Second)}
	for name, tried := range map[string]error{
		"nothing was tried": nil, "it was tried once": temporal.NewApplicationErrorWithOptions("", "", temporal.ApplicationErrorOptions{Details: []any{failed}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			handed := delivery.Handover{Link: delivery.LinkCallback, At: s.at(0), Wait: wire.Duration(30 * time.Second)}
			s.ring = delivery.Report{Result: delivery.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
				if len(s.deliveries) == 1 {
					return delivery.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, tried)
				}
				return delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil
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

// A timer that is woken while it waits for a receiver waits no longer than before: the other
// link is tried at its time, however often the timer is woken.
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
			handed := delivery.Handover{Link: delivery.LinkFallback, At: s.at(-5 * time.Second), Wait: wire.Duration(c.wait)}
			s.ring = delivery.Report{Result: delivery.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			s.runState = func(*course) (timer.RunState, error) { return timer.RunState{PolicyVersion: 3}, nil }
			for n, at := range c.woken {
				s.later(at, func() { s.signal(timer.Change{ID: strconv.Itoa(n), Wake: true, At: s.at(at)}) })
			}
			s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
				switch len(s.deliveries) {
				case len(c.bounds): // its time there is over
					return delivery.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
				case len(c.bounds) + 1:
					return delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}, nil
				default:
					return delivery.Report{}, activity.ErrResultPending
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

// An attempt that is handed over again has a new bound.
func TestHandedOverAgain(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	handed := func(after, wait time.Duration) delivery.Report {
		return delivery.Report{
			Result: delivery.ResultUseQueue, PolicyVersion: 3, Stream: true,
			Handed: &delivery.Handover{Link: delivery.LinkFallback, At: s.at(after), Wait: wire.Duration(wait)},
		}
	}
	s.ring = handed(0, time.Minute)
	s.runState = func(*course) (timer.RunState, error) { return timer.RunState{PolicyVersion: 3}, nil }
	s.later(30*time.Second, func() { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(30 * time.Second)}) })
	s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
		switch len(s.deliveries) {
		case 1:
			return delivery.Report{}, activity.ErrResultPending
		case 2:
			return handed(31*time.Second, time.Hour), nil
		default:
			return delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}, nil
		}
	}
	s.run()
	require.Equal(t, []time.Duration{time.Minute, 30 * time.Second, time.Hour}, s.bounds)
}

// A timer waits for its turn at a busy receiver while the receiver takes attempts, however
// long that is, and the history does not grow. When the receiver takes no more, the timer
// goes on where the other link is possible.
func TestWaitingBehindABusyStreamAddsNothing(t *testing.T) {
	t.Parallel()
	const busy = 8 * time.Hour // the environment repeats no activity more than ten times
	for name, c := range map[string]struct {
		happens    func(*course)
		ends       time.Duration
		deliveries int
	}{
		"nobody takes any more":  {func(*course) {}, busy, 2},
		"woken":                  {func(s *course) { s.signal(timer.Change{ID: "w", Wake: true, At: s.at(2 * time.Hour)}) }, busy, 3},
		"changed":                {func(s *course) { s.signal(timer.Change{ID: "c", Ring: true, At: s.at(2 * time.Hour)}) }, 2 * time.Hour, 1},
		"cancelled":              {func(s *course) { s.env.CancelWorkflow() }, 2 * time.Hour, 1},
		"its latest time passes": {func(s *course) { s.ring.Latest = s.at(2 * time.Hour) }, 2 * time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			watched := 0
			handed := delivery.Handover{Link: delivery.LinkCallback, At: s.at(0), Wait: wire.Duration(time.Minute), Times: 1}
			s.ring = delivery.Report{Result: delivery.ResultUseQueue, PolicyVersion: 3, Stream: true, Handed: &handed}
			if name == "its latest time passes" {
				c.happens(s)
			} else {
				s.later(2*time.Hour, func() { c.happens(s) })
			}
			s.register(workflows.ActivityWatchStream, func(context.Context, timer.Spec) error {
				watched++
				if s.since() < busy {
					return temporal.NewApplicationErrorWithOptions("", "busy", temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
				}
				return nil
			})
			s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
				if len(s.deliveries) < c.deliveries || c.deliveries == 1 {
					return delivery.Report{}, activity.ErrResultPending
				}
				return delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}, nil
			}
			s.run()
			require.InDelta(t, c.ends.Seconds(), s.since().Seconds(), 2)
			require.Len(t, s.deliveries, c.deliveries)
			require.Equal(t, make([]time.Duration, c.deliveries), s.bounds, "no wait has an end of its own")
			require.Greater(t, watched, int(c.ends/time.Hour)-1, "the server repeats the question")
			if c.deliveries > 1 {
				require.True(t, s.deliveries[c.deliveries-1].Prior.Handed.Missed)
			}
		})
	}
}
