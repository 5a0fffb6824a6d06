package activities

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/timer"
)

func (o onQueue) AckToken(of timer.Spec, attempt int) string {
	return of.String() + " " + of.WebhookID()[:3] + string(rune('0'+attempt))
}

// An attempt whose receiver may say later what became of it is accepted, where its policy
// asks for that and its workflow waits.
func TestAccepted(t *testing.T) {
	later := timer.Answer{Delivered: true, Status: 202, Deferred: true}
	for name, c := range map[string]struct {
		change func(q *queue)
		answer timer.Answer
		want   timer.Result
		token  string
	}{
		"accepted":                      {func(*queue) {}, later, timer.ResultAccepted, "x/1 msg1"},
		"delivered at once":             {func(*queue) {}, timer.Answer{Delivered: true, Status: 200}, timer.ResultDelivered, "x/1 msg1"},
		"refused":                       {func(*queue) {}, timer.Answer{Class: timer.Answered, Status: 500}, timer.ResultRetry, "x/1 msg1"},
		"the policy does not ask":       {func(q *queue) { q.policy.Ack = nil }, later, timer.ResultDelivered, ""},
		"a workflow that does not wait": {func(q *queue) { q.delivery.Live = false }, later, timer.ResultDelivered, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.attempter.AckTokens = onQueue{q: q}
				q.policy.Ack = &timer.Ack{Within: timer.Duration(time.Minute)}
				q.answer = answers(c.answer)
				c.change(q)
				report := q.try()
				require.Equal(t, c.want, report.Result)
				require.Equal(t, c.token, q.calls[0].Headers[send.HeaderAckToken])
				if c.want == timer.ResultAccepted {
					require.Equal(t, report.EndedAt.Add(time.Minute), report.AckUntil)
					require.Equal(t, 10*time.Second, report.RetryIn.D())
					require.Equal(t, timer.ResultAccepted, report.Attempts[0].Result)
				}
			})
		})
	}
}

// A task that comes again finds what its attempt came to. The attempt that follows when the
// receiver said nothing is made all the same.
func TestAReceiptIsOfItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.attempter.AckTokens = onQueue{q: q}
		q.policy.Ack = &timer.Ack{Within: timer.Duration(time.Minute)}
		q.policy.Retry.Steps = q.policy.Retry.Steps[:1]
		q.answer = answers(timer.Answer{Delivered: true, Status: 202, Deferred: true})
		first := q.try()
		require.Equal(t, first, q.try(), "its record was lost on the way")
		require.Len(t, q.calls, 1)
		last := first.Unacknowledged(timer.At(time.Now()))
		last.RetryIn = 0
		q.delivery.Prior = &last
		second := q.try()
		require.Equal(t, 2, second.Attempt)
		require.True(t, second.Exhausted)
		require.Len(t, q.calls, 2)
		require.Len(t, second.Attempts, 2)
		require.Equal(t, timer.Unacknowledged, second.Attempts[0].Class)
		require.Empty(t, second.Attempts[1].Class)
		require.Equal(t, last.Failure, second.Acceptance().LastFailure(), "the one before it failed, and it has not yet")
	})
}
