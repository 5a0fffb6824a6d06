package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// onStream is a queue of a type whose receivers connect.
func onStream(t *testing.T) *queue {
	q := newQueue(t)
	q.policy.Callback.Destination = delivery.Destination{Stream: true}
	q.attempter.Sender = send.New(send.Transports{delivery.DestinationStream: onQueue{q: q}}, noop.NewTracerProvider().Tracer(""))
	return q
}

// An attempt whose connection broke does not count and is made again at once; after repeated
// breaks it waits.
func TestAnAttemptWithoutVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := onStream(t)
		q.answer = answers(delivery.Answer{Class: delivery.BrokenAnswer, NoVerdict: true})
		var waits []time.Duration
		for range tuning.BrokenAtOnce + 5 {
			report := q.try()
			require.Equal(t, delivery.ResultRetry, report.Result)
			require.Zero(t, report.Attempt)
			require.True(t, report.Stream)
			require.Equal(t, delivery.BrokenAnswer, report.Failure.Class)
			waits = append(waits, report.RetryIn.D())
			<-time.After(report.RetryIn.D())
		}
		for _, wait := range waits[:tuning.BrokenAtOnce] {
			require.Equal(t, time.Millisecond, wait)
		}
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second}, waits[tuning.BrokenAtOnce:])
		q.answer = answers(delivery.Answer{Class: delivery.Refused, Detail: "no", RetryAfter: time.Minute})
		report := q.try()
		require.Equal(t, 1, report.Attempt)
		require.Equal(t, time.Minute, report.RetryIn.D())
		require.Zero(t, report.Skipped)
		require.Empty(t, q.wishes, "one of many receivers speaks for itself")
	})
}

// A timer that comes a moment early reaches its receiver when it is due.
func TestAMomentEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := onStream(t)
		due := time.Now().Add(tuning.StreamLead)
		q.delivery.Spec.DueAt = wire.At(due)
		report := q.try()
		require.Equal(t, delivery.ResultDelivered, report.Result)
		require.Zero(t, *report.LatenessMS)
		require.Equal(t, due, time.Now())
		q.delivery.Spec.DueAt, q.state.Last = wire.At(time.Now().Add(time.Second)), nil
		require.EqualValues(t, time.Second, q.tryAfterReceipt().RetryIn, "what is not all but due waits in Temporal")
	})
}

// tryAfterReceipt is a try of another run.
func (q *queue) tryAfterReceipt() delivery.Report {
	q.forgetReceipts()
	return q.try()
}

// An attempt moves to the queue on which attempts of its type are now made.
func TestWhereAttemptsAreMade(t *testing.T) {
	stream, http := delivery.Destination{Stream: true}, delivery.HTTP("http://receiver.example")
	for name, c := range map[string]struct {
		scheduled, policy delivery.Destination
		version           int
		moves             bool
	}{
		"as before":                         {http, http, 1, false},
		"receivers connect, as before":      {stream, stream, 1, false},
		"receivers have begun to connect":   {http, stream, 1, true},
		"receivers do not connect any more": {stream, http, 1, true},
		"there is no policy any more":       {http, http, 0, false},
		"nor do receivers connect":          {stream, http, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.attempter.Queue = func(_ policy.Policy, streams bool) string {
					if streams == c.scheduled.Stream {
						return "default-test-taskqueue"
					}
					return "another"
				}
				q.attempter.Sender = send.New(send.Transports{delivery.DestinationStream: onQueue{q: q}, delivery.DestinationHTTP: onQueue{q: q}}, noop.NewTracerProvider().Tracer(""))
				q.policy.Version, q.policy.Callback.Destination = c.version, c.policy
				report := q.try()
				require.Equal(t, c.moves, report.Result == delivery.ResultUseQueue)
				require.Equal(t, c.policy.Stream, report.Stream)
				require.Equal(t, c.moves, len(q.calls) == 0)
			})
		})
	}
}

// A worker hands a due timer to the gateway of its receiver.
func TestHandedOnToItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := onStream(t)
		q.policy.Callback.Destination = delivery.Destination{Stream: true}
		report, err := runFirst(t.Context(), q.attempter, q.delivery)
		require.NoError(t, err)
		require.Equal(t, delivery.ResultUseQueue, report.Result)
		require.True(t, report.Stream)
	})
}
