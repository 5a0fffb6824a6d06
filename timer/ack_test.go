package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// Acknowledging later goes with every destination but a stream, whichever link that is: its
// receivers acknowledge each ring by themselves.
func TestCheckAck(t *testing.T) {
	t.Parallel()
	web, queue, stream := timer.HTTP("https://h/"), timer.Destination{Broker: "main"}, timer.Destination{Stream: true}
	for _, c := range []struct {
		first, second timer.Destination
		wrong         string
	}{
		{web, timer.Destination{}, ""},
		{queue, timer.Destination{}, ""},
		{stream, timer.Destination{}, "does not go with callback.stream: "},
		{web, queue, ""},
		{queue, web, ""},
		{queue, timer.Destination{Broker: "main", Exchange: "late"}, ""},
		{stream, web, "does not go with callback.stream: "},
		{web, stream, "does not go with fallback.stream: "},
		{queue, stream, "does not go with fallback.stream: "},
	} {
		policy := timer.Policy{
			BusinessType: "order", Callback: timer.Callback{Destination: c.first}, Ack: &timer.Ack{Within: timer.Duration(time.Minute)},
		}
		if c.second.Addressed() {
			policy.Fallback = &timer.Fallback{Callback: timer.Callback{Destination: c.second}}
		}
		errs := policy.Check()
		if c.wrong == "" {
			require.Empty(t, errs, "%v", c)
			continue
		}
		require.Len(t, errs, 1, "%v", c)
		require.Equal(t, "/ack", errs[0].Pointer)
		require.Contains(t, errs[0].Detail, c.wrong)
	}
}

// While a receiver may still say what became of an attempt, the timer's last failure is that
// of the attempt before. One that is acknowledged has none.
func TestLastFailureOfAnAcceptedAttempt(t *testing.T) {
	t.Parallel()
	busy := &timer.Failure{Status: 500, Message: "HTTP 500"}
	report := timer.Report{Result: timer.ResultAccepted, Attempt: 2, Failure: busy}.Record([]timer.Attempt{{Number: 1}}, timer.Attempt{})
	awaited := report.Acceptance()
	require.Equal(t, busy, awaited.LastFailure())
	require.True(t, awaited.Awaited())
	require.False(t, awaited.Nacked())
	delivered := report.Acknowledged(timer.Acknowledgement{}, timer.At(noon))
	require.Nil(t, delivered.Failure)
	require.Nil(t, delivered.Acceptance().LastFailure())
	require.Empty(t, delivered.Attempts[1].Class)
	nacked := report.Acknowledged(timer.Acknowledgement{Nack: true, Reason: "no"}, timer.At(noon)).Acceptance()
	require.Equal(t, timer.Nacked, nacked.LastFailure().Class)
	require.Nil(t, nacked.Before)
	require.Equal(t, timer.Unacknowledged, report.Unacknowledged(timer.At(noon)).Acceptance().LastFailure().Class)
}
