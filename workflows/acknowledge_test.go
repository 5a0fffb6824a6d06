package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// within is how long the receivers of these tests have to acknowledge.
const within = 10 * time.Minute

// acceptedAt is the report of an attempt that was accepted that long after the due time.
func (s *course) acceptedAt(number int, after time.Duration) delivery.Report {
	report := delivery.Report{
		Result: delivery.ResultAccepted, Attempt: number, EndedAt: s.at(after), AckUntil: s.at(after + within), RetryIn: wire.Duration(time.Minute), PolicyVersion: 1,
	}
	return report.Record(nil, delivery.Attempt{})
}

func (s *course) word(attempt int) delivery.Acknowledgement {
	return delivery.Acknowledgement{WebhookID: s.spec.WebhookID(), Attempt: attempt}
}

func (s *course) say(word delivery.Acknowledgement) {
	s.env.SignalWorkflow(workflows.SignalAcknowledge, word)
}

// acceptance is the acceptance in the memo.
func (s *course) acceptance() (a delivery.Acceptance) {
	s.Helper()
	field := s.info.Memo.GetFields()[workflows.MemoAcceptance]
	require.NotNil(s, field)
	require.NoError(s, converter.GetDefaultDataConverter().FromPayload(field, &a))
	return a
}

// shown is the state that lists show of the next run; "" while it is scheduled.
func (s *course) shown() (state string) {
	s.Helper()
	if field, ok := s.info.SearchAttributes.GetIndexedFields()[workflows.AttrState.GetName()]; ok { //nolint:staticcheck // as the workflow sets them
		require.NoError(s, converter.GetDefaultDataConverter().FromPayload(field, &state))
	}
	return state
}

// A receiver's acknowledgement of an accepted attempt counts until its time is up.
func TestAcknowledged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do func(s *course)
		// want is the end of the timer, and after is its time. retried is the wait of a
		// following retry, and the time of its begin; zero for none.
		want     timer.Status
		after    time.Duration
		retryIn  time.Duration
		class    delivery.FailureClass
		attempts int
	}{
		"acked":                             {do: func(s *course) { s.later(time.Minute, func() { s.say(s.word(1)) }) }, want: timer.Delivered, after: time.Minute, attempts: 1},
		"acked before the 202 was recorded": {do: func(s *course) { s.cold = 0; s.later(0, func() { s.say(s.word(1)) }) }, want: timer.Delivered, attempts: 1},
		"of another delivery": {do: func(s *course) {
			s.later(time.Minute, func() { s.say(delivery.Acknowledgement{WebhookID: "msg_other", Attempt: 1}) })
		}, want: timer.Delivered, after: within + time.Minute, retryIn: time.Minute, class: delivery.Unacknowledged, attempts: 2},
		"of another attempt": {do: func(s *course) { s.later(time.Minute, func() { s.say(s.word(2)) }) }, want: timer.Delivered, after: within + time.Minute, retryIn: time.Minute, class: delivery.Unacknowledged, attempts: 2},
		"no word":            {do: func(*course) {}, want: timer.Delivered, after: within + time.Minute, retryIn: time.Minute, class: delivery.Unacknowledged, attempts: 2},
		"nacked": {do: func(s *course) {
			word := s.word(1)
			word.Nack, word.Reason = true, "out of stock"
			s.later(time.Second, func() { s.say(word) })
		}, want: timer.Delivered, after: time.Second + time.Minute, retryIn: time.Minute, class: delivery.Nacked, attempts: 2},
		"nacked with a wish": {do: func(s *course) {
			word := s.word(1)
			word.Nack, word.RetryAfter = true, wire.Duration(time.Hour)
			s.later(time.Second, func() { s.say(word) })
		}, want: timer.Delivered, after: time.Second + time.Hour, retryIn: time.Hour, class: delivery.Nacked, attempts: 2},
		"the last one, without a word": {do: func(s *course) { s.ring.Exhausted = true }, want: timer.Failed, after: within, class: delivery.Unacknowledged, attempts: 1},
		"the last one, nacked": {do: func(s *course) {
			s.ring.Exhausted = true
			word := s.word(1)
			word.Nack = true
			s.later(time.Second, func() { s.say(word) })
		}, want: timer.Failed, after: time.Second, class: delivery.Nacked, attempts: 1},
		"its timer was lost, and somebody wakes it": {do: func(s *course) {
			s.later(time.Minute, func() { s.signal(timer.Change{ID: "w", Wake: true}) })
			s.later(2*time.Minute, func() { s.say(s.word(1)) })
		}, want: timer.Delivered, after: 2 * time.Minute, attempts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = s.acceptedAt(1, 0)
			s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
				prior := s.deliveries[0].Prior
				require.Equal(t, delivery.ResultRetry, prior.Result)
				require.Equal(t, c.class, prior.Failure.Class)
				require.Equal(t, c.retryIn, prior.RetryIn.D())
				require.Equal(t, c.after-c.retryIn, prior.EndedAt.Time().Sub(s.due))
				require.Equal(t, c.class, prior.Attempts[0].Class, "its record knows")
				return delivery.Report{Result: delivery.ResultDelivered, Attempt: 2}, nil
			}
			c.do(s)
			s.run()
			outcome, after := s.howItEnded()
			require.Equal(t, c.want, outcome.Status)
			require.Equal(t, c.attempts, outcome.Attempts)
			require.Equal(t, c.after-c.retryIn, after)
			if c.want == timer.Failed {
				require.Equal(t, c.class, outcome.LastFailure.Class)
			}
			settled := s.acceptance()
			require.False(t, settled.Awaited())
			require.Equal(t, c.class == delivery.Nacked, settled.Nacked())
			if c.attempts == 1 && c.want == timer.Delivered {
				require.Equal(t, s.at(after), outcome.DeliveredAt)
				require.Empty(t, s.deliveries, "nobody is called again")
			}
		})
	}
}

// howItEnded is how the timer ended, well or not.
func (s *course) howItEnded() (outcome timer.Outcome, after time.Duration) {
	s.Helper()
	if err := s.env.GetWorkflowError(); err != nil {
		var failed *temporal.ApplicationError
		require.ErrorAs(s, err, &failed)
		require.NoError(s, failed.Details(&outcome))
		return outcome, s.since()
	}
	return s.ended()
}

// A retry may be accepted too. An acknowledgement of the attempt before it is then too late.
func TestARetryIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	s.ring = s.acceptedAt(1, 0)
	s.deliver = func(s *course, _ activity.Info) (delivery.Report, error) {
		switch len(s.deliveries) {
		case 1:
			late := s.word(1)
			late.Nack = true
			s.say(late)
			s.later(time.Hour-time.Minute, func() {})
			return s.acceptedAt(2, s.since()), nil
		default:
			return delivery.Report{Result: delivery.ResultDelivered, Attempt: 3}, nil
		}
	}
	s.later(within+5*time.Minute, func() { s.say(s.word(2)) })
	s.run()
	outcome, after := s.ended()
	require.Equal(t, timer.Delivered, outcome.Status)
	require.Equal(t, 2, outcome.Attempts)
	require.Equal(t, within+5*time.Minute, after)
	require.Equal(t, 2, s.acceptance().Attempt)
}

// While the timer waits for an acknowledgement nothing is in flight: a cancel ends the timer
// at once, and a change moves it. An event after the latest time has the same effect as an
// attempt that ended then.
func TestWhileAReceiverIsAwaited(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *course {
		s := newCourse(t)
		s.ring = s.acceptedAt(1, 0)
		return s
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		s.later(time.Minute, s.env.CancelWorkflow)
		s.run()
		require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()))
		require.Equal(t, time.Minute, s.since())
	})
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		due := s.at(time.Hour)
		s.later(time.Minute, func() { s.signal(timer.Change{ID: "1", Terms: timer.Terms{DueAt: &due}, At: s.at(time.Minute)}) })
		s.run()
		require.Equal(t, due, s.next().DueAt)
		require.NotContains(t, s.info.Memo.GetFields(), workflows.MemoAcceptance, "the next run knows nothing of it")
		require.NotContains(t, s.info.SearchAttributes.GetIndexedFields(), workflows.AttrWebhookID.GetName()) //nolint:staticcheck // as the workflow sets them
	})
	t.Run("its latest time passes", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		s.ring.Latest = s.at(time.Minute)
		s.later(2*time.Minute, func() { s.say(s.word(1)) })
		s.run()
		outcome, _ := s.ended()
		require.Equal(t, timer.Delivered, outcome.Status, "the attempt began in time")
	})
	t.Run("its latest time has passed, and there is no word", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		s.ring.Latest = s.at(time.Minute)
		s.run()
		outcome, after := s.ended()
		require.Equal(t, timer.Expired, outcome.Status)
		require.Equal(t, within, after)
	})
}

// A change begins another run. Its memo has the acceptance of the delivery that goes on there,
// and none of a delivery that begins anew.
func TestTheNextRunKnowsTheAcceptance(t *testing.T) {
	t.Parallel()
	changes := map[string]struct {
		terms func(s *course) timer.Change
		anew  bool
	}{
		"an edit": {func(s *course) timer.Change { return timer.Change{Terms: timer.Terms{Labels: &timer.Labels{"a": "b"}}} }, false},
		"a move": {func(s *course) timer.Change {
			due := s.at(time.Hour)
			return timer.Change{Terms: timer.Terms{DueAt: &due}}
		}, true},
		"a fire": {func(*course) timer.Change { return timer.Change{Ring: true} }, true},
	}
	words := map[string]struct {
		said  func(s *course)
		class delivery.FailureClass
	}{
		"no word":            {func(*course) {}, ""},
		"a nack":             {func(s *course) { word := s.word(1); word.Nack = true; s.say(word) }, delivery.Nacked},
		"of another attempt": {func(s *course) { word := s.word(2); word.Nack = true; s.say(word) }, ""},
	}
	for changed, change := range changes {
		for said, word := range words {
			for _, byQueue := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, by the queue %t", changed, said, byQueue), func(t *testing.T) {
					t.Parallel()
					s := newCourse(t)
					events := func() {
						made := change.terms(s)
						made.ID, made.At = "1", s.at(0)
						s.signal(made)
						word.said(s)
					}
					s.ring = s.acceptedAt(1, 0)
					if byQueue {
						accepted := s.ring
						s.ring = delivery.Report{Result: delivery.ResultUseQueue}
						s.deliver = func(*course, activity.Info) (delivery.Report, error) { events(); return accepted, nil }
					} else {
						s.ringing = events
					}
					s.run()
					next, memo := s.next(), s.info.Memo.GetFields()
					require.Equal(t, change.anew, next.Ongoing == nil)
					require.Equal(t, map[bool]string{false: string(timer.Delivering)}[change.anew], s.shown())
					if change.anew {
						require.NotContains(t, memo, workflows.MemoAcceptance)
						return
					}
					require.Equal(t, next.Ongoing.Acceptance(), s.acceptance())
					require.Equal(t, 1, s.acceptance().Attempt)
					if word.class == "" {
						require.Nil(t, s.acceptance().Failure)
						return
					}
					require.Equal(t, word.class, s.acceptance().Failure.Class)
				})
			}
		}
	}
}

// A recurring timer goes on after an acknowledged occurrence.
func TestARecurringTimerIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := newCourse(t)
	every := wire.Duration(time.Hour)
	s.spec.Series = &timer.Series{Rule: recurrence.Rule{Every: &every}, Cursor: recurrence.Cursor{Booked: wire.At(s.due)}, Number: 1, Extra: true}
	s.ring = s.acceptedAt(1, 0)
	s.later(time.Minute, func() { s.say(s.word(1)) })
	s.run()
	require.Equal(t, timer.Delivered, s.next().Series.Last.Status)
	require.Equal(t, s.spec.WebhookID(), s.next().Series.Last.WebhookID)
}
