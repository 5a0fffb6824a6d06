package httpsend

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

func rulingOf(status int, headers ...string) delivery.Verdict {
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return delivery.Judge(AnswerOf(status, header, time.Now()))
}

func TestEveryStatusHasItsVerdict(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 599; status++ {
		want := delivery.DecisionRetry
		switch {
		case status >= 200 && status <= 299:
			want = delivery.DecisionDelivered
		case status == 410:
			want = delivery.DecisionStop
		}
		require.Equal(t, want, rulingOf(status).Decision, "%d", status)
	}
}

func TestNoRetryStopsWhateverTheStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{302, 400, 429, 500, 503} {
		require.Equal(t, delivery.DecisionStop, rulingOf(status, HeaderNoRetry, " TRUE ", "Retry-After", "5").Decision)
		require.Equal(t, delivery.DecisionRetry, rulingOf(status, HeaderNoRetry, "1").Decision)
	}
	require.Equal(t, delivery.DecisionDelivered, rulingOf(200, HeaderNoRetry, "true").Decision)
}

func TestStopIsHeardOnEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 302, 410, 503} {
		require.True(t, AnswerOf(status, http.Header{HeaderStop: {"True"}}, time.Now()).Stop)
		require.False(t, AnswerOf(status, http.Header{HeaderStop: {"yes"}}, time.Now()).Stop)
		require.False(t, AnswerOf(status, nil, time.Now()).Stop)
	}
	require.Equal(t, delivery.DecisionRetry, rulingOf(503, HeaderStop, "true").Decision, "the delivery goes on")
}

func TestRetryAfterCountsOn429And503Only(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 599; status++ {
		var want time.Duration
		if status == 429 || status == 503 {
			want = 7 * time.Second
		}
		require.Equal(t, want, rulingOf(status, "Retry-After", "7").RetryAfter, "%d", status)
	}
	require.Equal(t, delivery.MaxRetryAfter, rulingOf(503, "Retry-After", "99999999999999999999").RetryAfter)
}

func TestFailureOfAnAnswer(t *testing.T) {
	t.Parallel()
	require.Equal(t, &delivery.Failure{Status: 410, Class: delivery.Answered, Message: "HTTP 410", At: 1}, AnswerOf(410, nil, time.Now()).Failure(1))
	require.Equal(t, "HTTP 500, receiver asked for no retry", AnswerOf(500, http.Header{HeaderNoRetry: {"true"}}, time.Now()).Describe())
}
