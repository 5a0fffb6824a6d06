package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// streamLinks is a type with a stream and another link: a worker, a gateway, and Temporal
// between them.
type streamLinks struct {
	*twoLinks           // the worker; first is the callback's receiver, and second the fallback's
	gateway   *queue    // which has the receivers
	connected bool      // whether one is
	polled    time.Time // when one asked for more
	pollErr   error
	asked     int
}

func withStream(t *testing.T, callback, fallback delivery.Destination) *streamLinks {
	s := &streamLinks{twoLinks: withFallback(t), gateway: newQueue(t)}
	s.policy.Callback.Destination, s.policy.Fallback.Destination, s.policy.Declare = callback, fallback, nil
	s.gateway.policy = s.policy
	s.first, s.second = answers(delivery.Answer{Delivered: true}), answers(delivery.Answer{Delivered: true})
	answer := func(ctx context.Context) delivery.Answer {
		if last := s.calls[len(s.calls)-1].Destination; last == s.policy.Callback.Routed("x") {
			return s.first(ctx)
		}
		return s.second(ctx)
	}
	s.answer = answer
	s.gateway.answer = func(ctx context.Context) delivery.Answer {
		s.calls = append(s.calls, s.gateway.calls[len(s.gateway.calls)-1])
		return answer(ctx)
	}
	over := func(q *queue, streams bool) {
		q.attempter.Queue = func(_ policy.Policy, stream bool) string {
			return map[bool]string{true: "default-test-taskqueue", false: "another"}[stream == streams]
		}
		q.attempter.Sender = send.New(send.Transports{delivery.DestinationStream: onQueue{q: q}, delivery.DestinationHTTP: onQueue{q: q}}, noop.NewTracerProvider().Tracer(""))
	}
	over(s.queue, false)
	over(s.gateway, true)
	s.attempter.Polled = func(context.Context, string) (time.Time, error) {
		s.asked++
		if s.connected && s.pollErr == nil {
			s.polled = time.Now()
		}
		return s.polled, s.pollErr
	}
	return s
}

// leads is the report of a timer of the type once it is with a receiver, on its ladder, or
// at its end, and how long that took.
func (s *streamLinks) leads() (report delivery.Report, took time.Duration) {
	s.Helper()
	began := time.Now()
	s.begin()
	s.delivery.Prior, s.delivery.Spec.DueAt, s.gateway.state.Last = nil, wire.At(began), nil
	report, err := runFirst(s.Context(), s.attempter, s.delivery)
	require.NoError(s, err)
	if report.Result == delivery.ResultRetry {
		s.state.Last = &report
	}
	for report.Result == delivery.ResultUseQueue {
		report = s.step(report)
	}
	return report, time.Since(began)
}

// step acts as Temporal and the workflow on a handed-over attempt.
func (s *streamLinks) step(last delivery.Report) delivery.Report {
	s.Helper()
	prior := timer.Resume(s.delivery.Spec, last).Prior
	switch {
	case !last.Stream:
		s.begin()
		s.delivery.Prior, s.state.Last = prior, nil
		return s.try()
	case s.connected:
		s.gateway.forgetReceipts()
		s.gateway.delivery, s.gateway.state.Last = s.delivery, nil
		s.gateway.delivery.Prior = prior
		return s.gateway.try()
	default:
		require.NotZero(s, last.Handed.Wait, "it would wait for ever")
		<-time.After(last.Handed.Wait.D())
		return last.MissHandover(*last.Handed)
	}
}

var aStream, aURL = delivery.Destination{Stream: true}, delivery.HTTP(firstURL)

// Behind a stream: while a receiver takes attempts no other link is used. Without one only
// the first timer waits for the configured time. A receiver that connects gets one timer
// first, and all others once it has asked for more.
func TestFallbackOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.connected = true
		report, took := s.leads()
		require.Equal(t, delivery.LinkCallback, report.Link)
		require.Zero(t, took)
		require.Zero(t, s.asked)

		s.connected = false
		<-time.After(time.Minute)
		for n, late := range []time.Duration{after, 0, 0} {
			report, took = s.leads()
			require.Equal(t, delivery.ResultDelivered, report.Result)
			require.Equal(t, delivery.LinkFallback, report.Link, n)
			require.Equal(t, late, took)
			require.Equal(t, 1, report.Attempt, "waiting is no attempt")
		}
		<-time.After(time.Hour)
		report, took = s.leads()
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Zero(t, took, "nobody waits for a stream to which nobody is connected")

		s.connected = true
		var links []delivery.Link
		for range 5 {
			<-time.After(tuning.FirstLinkProbe / 2)
			report, took = s.leads()
			require.Zero(t, took)
			links = append(links, report.Link)
		}
		const first, second = delivery.LinkCallback, delivery.LinkFallback
		require.Equal(t, []delivery.Link{second, first, second, second, second}, links)
		<-time.After(tuning.FirstLinkProbe)
		for range 3 {
			report, _ = s.leads()
			require.Equal(t, first, report.Link)
		}
	})
}

// A receiver that connects and leaves at once delays one timer by a moment.
func TestAReceiverThatLeavesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.leads()
		<-time.After(time.Minute)
		s.polled = time.Now()
		report, took := s.leads()
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Equal(t, tuning.FirstLinkProbe, took)
		for range 3 {
			<-time.After(time.Minute)
			_, took = s.leads()
			require.Zero(t, took)
		}
	})
}

// Busy receivers are not down: the attempts they have not taken wait on, and are asked for
// less often. Receivers of a type with a rate take no more than that.
func TestReceiversThatAreBusy(t *testing.T) {
	rate := 0.1
	for name, limit := range map[string]*float64{"as many as they can": nil, "as many as they may": &rate} {
		synctest.Test(t, func(t *testing.T) {
			s := withStream(t, aStream, aURL)
			s.begin()
			s.policy.Limits.CallbacksPerSecond = limit
			s.delivery.Prior = nil
			var waits []time.Duration
			report := s.try()
			for range 5 {
				require.True(t, report.Stream, name)
				waits = append(waits, report.Handed.Wait.D())
				<-time.After(report.Handed.Wait.D())
				s.polled = time.Now().Add(-time.Millisecond)
				report = s.step(report.MissHandover(*report.Handed))
			}
			if limit == nil {
				require.Equal(t, []time.Duration{after, after - time.Millisecond, after - time.Millisecond, after - time.Millisecond, 8 * time.Second}, waits)
			}
			s.polled = time.Now().Add(-10 * time.Second)
			report = s.step(report.MissHandover(*report.Handed))
			require.Equal(t, limit != nil, report.Stream, name)
		})
	}
}

// An attempt that waits at a busy stream learns when receivers take no more from it, or when
// there is nothing to wait for. Otherwise the question is repeated once that is possible.
func TestWatchingAStream(t *testing.T) {
	for name, c := range map[string]struct {
		happened func(*streamLinks)
		again    time.Duration // 0 for not
	}{
		"they take others":          {func(s *streamLinks) { s.polled = time.Now() }, after},
		"they took one a while ago": {func(s *streamLinks) { s.polled = time.Now().Add(tuning.FirstBusyStream - after) }, 2 * tuning.FirstBusyStream},
		"they have gone":            {func(s *streamLinks) { s.polled = time.Now().Add(-after) }, 0},
		"nobody ever took any":      {func(*streamLinks) {}, 0},
		"no other link is left":     {func(s *streamLinks) { s.polled, s.policy.Fallback = time.Now(), nil }, 0},
		"it is no stream any more":  {func(s *streamLinks) { s.polled, s.policy.Callback.Destination = time.Now(), aURL }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := withStream(t, aStream, delivery.HTTP(secondURL))
			c.happened(s)
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(s.attempter.WatchStream)
			_, err := env.ExecuteActivity(s.attempter.WatchStream, s.delivery.Spec)
			if c.again == 0 {
				require.NoError(t, err, name)
				return
			}
			busy, ok := errors.AsType[*temporal.ApplicationError](err)
			require.True(t, ok, name)
			require.Equal(t, c.again, busy.NextRetryDelay(), name)
		})
	}
}

// An attempt that waited for a stream says nothing of the policy's present receiver.
func TestAStreamThatIsNoneAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, delivery.HTTP(secondURL))
		s.begin()
		s.delivery.Prior = nil
		report := s.try()
		<-time.After(report.Handed.Wait.D())
		s.policy.Callback.Destination = aURL
		report = s.step(report.MissHandover(*report.Handed))
		require.Equal(t, delivery.LinkCallback, report.Link)
		require.Equal(t, delivery.ResultDelivered, report.Result)
	})
}

// A Temporal that does not answer is no receiver.
func TestPollsThatAreNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.pollErr = errors.New("no answer")
		report, took := s.leads()
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Equal(t, after, took)
	})
}

// Connected receivers without answers are down too: their gateway finds out, and informs the
// worker.
func TestReceiversThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.connected, s.first = true, hangs
		s.gateway.state.Last = nil
		report, took := s.leads()
		require.Equal(t, delivery.ResultRetry, report.Result)
		require.Equal(t, delivery.Timeout, report.Failure.Class)
		require.Equal(t, delivery.DefaultAttemptTimeout, took)
		require.Zero(t, report.RetryIn, "it has hung for longer than the type waits")
		report = s.gateway.try() // the first one finds out whether it is still so
		require.Equal(t, delivery.LinkCallback, report.Link)
		report = s.gateway.try()
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.Equal(t, delivery.LinkFallback, report.Handed.Link)
		require.Equal(t, delivery.LinkFallback, s.step(report).Link)
		report, took = s.leads()
		require.Equal(t, delivery.LinkFallback, report.Link, "the worker knows")
		require.Zero(t, took)
	})
}

// If the fallback of a stream fails it has its ladder. Once that is used up, the timer waits
// for a receiver without a limit.
func TestAStreamWhoseFallbackFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.second = answers(delivery.Answer{Class: delivery.Answered, Status: 500})
		report, _ := s.leads()
		for report.Result == delivery.ResultRetry {
			<-time.After(report.RetryIn.D())
			report = s.try()
		}
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.Equal(t, []int{3, 3}, []int{report.Attempt, report.Fallbacks})
		require.True(t, report.Stream)
		require.Zero(t, report.Handed.Wait)
		s.connected = true
		report = s.step(report)
		require.Equal(t, delivery.ResultDelivered, report.Result)
		require.Equal(t, delivery.LinkCallback, report.Link)
		require.Equal(t, 4, report.Attempt)
	})
}

// A stream behind a callback that is down: the timer waits for a receiver as long as its
// ladder waits, and the callback is tried in between. It is never given up while it waits.
func TestAStreamAsTheFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aURL, aStream)
		s.first = down
		report, _ := s.leads()
		require.Equal(t, after, report.RetryIn.D())
		<-time.After(after)
		report = s.try()
		require.Equal(t, delivery.LinkCallback, report.Link, "one finds out")
		report = s.try()
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.Equal(t, delivery.LinkFallback, report.Handed.Link)
		require.Equal(t, time.Minute, report.Handed.Wait.D(), "the step after the second attempt")
		waiting := report
		report = s.step(s.step(report)) // nobody takes it
		require.Equal(t, delivery.LinkCallback, report.Link)
		require.Equal(t, 3, report.Attempt)
		report = s.try()
		require.True(t, report.Stream)
		require.Zero(t, report.Handed.Wait, "the callback's ladder is used up")

		s.connected = true
		report = s.step(waiting)
		require.Equal(t, delivery.ResultDelivered, report.Result)
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Equal(t, 1, report.Fallbacks)
		report, took := s.leads()
		require.Equal(t, delivery.LinkFallback, report.Link, "what is due while it is down goes there at once")
		require.Zero(t, took)

		// The worker knows of the callback, and decides after a refusal.
		s.second = answers(delivery.Answer{Class: delivery.Refused, Detail: "no"})
		report, _ = s.leads()
		require.Equal(t, 10*time.Second, report.RetryIn.D())
		<-time.After(report.RetryIn.D())
		report = s.gateway.try()
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.False(t, report.Stream)
		require.Nil(t, report.Handed)
		s.first = answers(delivery.Answer{Delivered: true})
		report = s.step(report)
		require.Equal(t, delivery.LinkCallback, report.Link)
		require.Equal(t, delivery.ResultDelivered, report.Result)
	})
}

// An attempt that waits for a receiver without a bound, under an older policy, gets one from
// the worker that empties the queue. One with a bound goes back for a moment.
func TestWhatAWorkerTakesFromAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.attempter.Queue = s.gateway.attempter.Queue
		report := s.try()
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.Equal(t, after, report.Handed.Wait.D())
		s.begin()
		s.delivery.Prior = &report
		report = s.try()
		require.Equal(t, delivery.ResultRetry, report.Result)
		require.Equal(t, tuning.DrainedWait, report.RetryIn.D())
		require.NotNil(t, report.Handed)
		require.Empty(t, s.calls)
	})
}

// A timer that left a moment early for a receiver is on time by the other link, too.
func TestNotTooSoonByTheOtherLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withStream(t, aStream, aURL)
		s.leads()
		s.begin()
		due := time.Now().Add(tuning.StreamLead)
		s.delivery.Spec.DueAt = wire.At(due)
		report, err := runFirst(t.Context(), s.attempter, s.delivery)
		require.NoError(t, err)
		require.Equal(t, delivery.LinkFallback, report.Link)
		require.Equal(t, due, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.delivery.Spec.DueAt = wire.At(due.Add(tuning.StreamLead))
		_, err = runFirst(ctx, s.attempter, s.delivery)
		require.ErrorIs(t, err, context.Canceled)
	})
}
