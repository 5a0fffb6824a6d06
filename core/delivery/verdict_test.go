package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestVerdictOfAnAnswer(t *testing.T) {
	t.Parallel()
	retry := func(after time.Duration) delivery.Verdict {
		return delivery.Verdict{Decision: delivery.DecisionRetry, RetryAfter: after}
	}
	stop, delivered := delivery.Verdict{Decision: delivery.DecisionStop}, delivery.Verdict{Decision: delivery.DecisionDelivered}
	for name, c := range map[string]struct {
		answer delivery.Answer
		want   delivery.Verdict
	}{
		"taken":                           {delivery.Answer{Delivered: true}, delivered},
		"taken, with a wish for no retry": {delivery.Answer{Delivered: true, NoRetry: true}, delivered},
		"nothing is known":                {delivery.Answer{}, retry(0)},
		"taken, and broken":               {delivery.Answer{Delivered: true, Class: delivery.BrokenAnswer}, retry(0)},
		"refused":                         {delivery.Answer{Class: delivery.Answered}, retry(0)},
		"refused for good":                {delivery.Answer{Class: delivery.Answered, NoRetry: true, RetryAfter: time.Second}, stop},
		"asks for patience":               {delivery.Answer{Class: delivery.Answered, RetryAfter: time.Second}, retry(time.Second)},
		"asks for too much":               {delivery.Answer{Class: delivery.Answered, RetryAfter: 1<<63 - 1}, retry(delivery.MaxRetryAfter)},
		"asks for less than none":         {delivery.Answer{Class: delivery.Answered, RetryAfter: -1}, retry(0)},
	} {
		require.Equal(t, c.want, delivery.Judge(c.answer), name)
	}
}

func TestVerdictOfEachClass(t *testing.T) {
	t.Parallel()
	stops := map[delivery.FailureClass]bool{delivery.BlockedAddress: true, delivery.BadRequest: true}
	for _, class := range delivery.FailureClasses() {
		want := delivery.DecisionRetry
		if stops[class] {
			want = delivery.DecisionStop
		}
		require.Equal(t, want, delivery.Judge(delivery.Answer{Class: class}).Decision, class)
	}
}

// A failure names its class and its details, or the text of the answer.
func TestDescribe(t *testing.T) {
	t.Parallel()
	require.Equal(t, "timeout", delivery.Answer{Class: delivery.Timeout}.Describe())
	require.Equal(t, "sealed_header: no key", delivery.Answer{Class: delivery.SealedHeader, Detail: "no key"}.Describe())
	require.Equal(t, "HTTP 503", delivery.Answer{Class: delivery.Answered, Detail: "HTTP 503"}.Describe())
	require.Contains(t, delivery.Answer{Class: delivery.TLSExpired}.Describe(), "tls_expired: ")
}
