package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func (o onQueue) AckToken(of timer.Spec, attempt int) string {
	return of.String() + " " + of.WebhookID()[:3] + string(rune('0'+attempt))
}

// An attempt is accepted if its policy asks for a later acknowledgement and its workflow
// waits for one.
func TestAccepted(t *testing.T) {
	later := delivery.Answer{Delivered: true, Status: 202, Deferred: true}
	for name, c := range map[string]struct {
		change func(q *queue)
		answer delivery.Answer
		want   delivery.Result
		token  string
	}{
		"accepted":                {func(*queue) {}, later, delivery.ResultAccepted, "x/1 msg1"},
		"delivered at once":       {func(*queue) {}, delivery.Answer{Delivered: true, Status: 200}, delivery.ResultDelivered, "x/1 msg1"},
		"refused":                 {func(*queue) {}, delivery.Answer{Class: delivery.Answered, Status: 500}, delivery.ResultRetry, "x/1 msg1"},
		"the policy does not ask": {func(q *queue) { q.policy.Ack = nil }, later, delivery.ResultDelivered, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.attempter.AckTokens = onQueue{q: q}
				q.policy.Ack = &delivery.Ack{Within: wire.Duration(time.Minute)}
				q.answer = answers(c.answer)
				c.change(q)
				report := q.try()
				require.Equal(t, c.want, report.Result)
				require.Equal(t, c.token, q.calls[0].Headers[send.HeaderAckToken])
				if c.want == delivery.ResultAccepted {
					require.Equal(t, report.EndedAt.Add(time.Minute), report.AckUntil)
					require.Equal(t, 10*time.Second, report.RetryIn.D())
					require.Equal(t, delivery.ResultAccepted, report.Attempts[0].Result)
				}
			})
		})
	}
}

// A task that comes again finds its attempt's report. The attempt after an absent
// acknowledgement is still made.
func TestAReceiptIsOfItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.attempter.AckTokens = onQueue{q: q}
		q.policy.Ack = &delivery.Ack{Within: wire.Duration(time.Minute)}
		q.policy.Retry.Steps = q.policy.Retry.Steps[:1]
		q.answer = answers(delivery.Answer{Delivered: true, Status: 202, Deferred: true})
		first := q.try()
		require.Equal(t, first, q.try(), "its record was lost on the way")
		require.Len(t, q.calls, 1)
		last := first.Unacknowledged(wire.At(time.Now()))
		last.RetryIn = 0
		q.delivery.Prior = &last
		second := q.try()
		require.Equal(t, 2, second.Attempt)
		require.True(t, second.Exhausted)
		require.Len(t, q.calls, 2)
		require.Len(t, second.Attempts, 2)
		require.Equal(t, delivery.Unacknowledged, second.Attempts[0].Class)
		require.Empty(t, second.Attempts[1].Class)
		require.Equal(t, last.Failure, second.Acceptance().LastFailure(), "the one before it failed, and it has not yet")
	})
}
