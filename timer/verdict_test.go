package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestVerdictOfAnAnswer(t *testing.T) {
	t.Parallel()
	retry := func(after time.Duration) timer.Verdict {
		return timer.Verdict{Decision: timer.DecisionRetry, RetryAfter: after}
	}
	stop, delivered := timer.Verdict{Decision: timer.DecisionStop}, timer.Verdict{Decision: timer.DecisionDelivered}
	for name, c := range map[string]struct {
		answer timer.Answer
		want   timer.Verdict
	}{
		"taken":                           {timer.Answer{Delivered: true}, delivered},
		"taken, with a wish for no retry": {timer.Answer{Delivered: true, NoRetry: true}, delivered},
		"nothing is known":                {timer.Answer{}, retry(0)},
		"taken, and broken":               {timer.Answer{Delivered: true, Class: timer.BrokenAnswer}, retry(0)},
		"refused":                         {timer.Answer{Class: timer.Answered}, retry(0)},
		"refused for good":                {timer.Answer{Class: timer.Answered, NoRetry: true, RetryAfter: time.Second}, stop},
		"asks for patience":               {timer.Answer{Class: timer.Answered, RetryAfter: time.Second}, retry(time.Second)},
		"asks for too much":               {timer.Answer{Class: timer.Answered, RetryAfter: 1<<63 - 1}, retry(timer.MaxRetryAfter)},
		"asks for less than none":         {timer.Answer{Class: timer.Answered, RetryAfter: -1}, retry(0)},
	} {
		require.Equal(t, c.want, timer.Judge(c.answer), name)
	}
}

func TestVerdictOfEachClass(t *testing.T) {
	t.Parallel()
	stops := map[timer.FailureClass]bool{timer.BlockedAddress: true, timer.BadRequest: true}
	for _, class := range timer.FailureClasses() {
		want := timer.DecisionRetry
		if stops[class] {
			want = timer.DecisionStop
		}
		require.Equal(t, want, timer.Judge(timer.Answer{Class: class}).Decision, class)
	}
}

// What a failure says: its class, what is known of it, and of an answer its own text.
func TestDescribe(t *testing.T) {
	t.Parallel()
	require.Equal(t, "timeout", timer.Answer{Class: timer.Timeout}.Describe())
	require.Equal(t, "sealed_header: no key", timer.Answer{Class: timer.SealedHeader, Detail: "no key"}.Describe())
	require.Equal(t, "HTTP 503", timer.Answer{Class: timer.Answered, Detail: "HTTP 503"}.Describe())
	require.Contains(t, timer.Answer{Class: timer.TLSExpired}.Describe(), "tls_expired: ")
}
