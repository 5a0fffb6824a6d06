package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Later acknowledgement works with every destination but a stream, on either link, because
// stream receivers acknowledge each ring at once.
func TestCheckAck(t *testing.T) {
	t.Parallel()
	web, queue, stream := delivery.HTTP("https://h/"), delivery.Destination{Broker: "main"}, delivery.Destination{Stream: true}
	for _, c := range []struct {
		first, second delivery.Destination
		wrong         string
	}{
		{web, delivery.Destination{}, ""},
		{queue, delivery.Destination{}, ""},
		{stream, delivery.Destination{}, "is not allowed with callback.stream: "},
		{web, queue, ""},
		{queue, web, ""},
		{queue, delivery.Destination{Broker: "main", Exchange: "late"}, ""},
		{stream, web, "is not allowed with callback.stream: "},
		{web, stream, "is not allowed with fallback.stream: "},
		{queue, stream, "is not allowed with fallback.stream: "},
	} {
		policy := policy.Policy{
			BusinessType: "order", Callback: delivery.Callback{Destination: c.first}, Ack: &delivery.Ack{Within: wire.Duration(time.Minute)},
		}
		if c.second.Addressed() {
			policy.Fallback = &delivery.Fallback{Callback: delivery.Callback{Destination: c.second}}
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

// While an acknowledgement is awaited, the timer's last failure is that of the attempt before.
// An acknowledged attempt has none.
func TestLastFailureOfAnAcceptedAttempt(t *testing.T) {
	t.Parallel()
	busy := &delivery.Failure{Status: 500, Message: "HTTP 500"}
	report := delivery.Report{Result: delivery.ResultAccepted, Attempt: 2, Failure: busy}.Record([]delivery.Attempt{{Number: 1}}, delivery.Attempt{})
	awaited := report.Acceptance()
	require.Equal(t, busy, awaited.LastFailure())
	require.True(t, awaited.Awaited())
	require.False(t, awaited.Nacked())
	delivered := report.Acknowledged(delivery.Acknowledgement{}, wire.At(noon))
	require.Nil(t, delivered.Failure)
	require.Nil(t, delivered.Acceptance().LastFailure())
	require.Empty(t, delivered.Attempts[1].Class)
	nacked := report.Acknowledged(delivery.Acknowledgement{Nack: true, Reason: "no"}, wire.At(noon)).Acceptance()
	require.Equal(t, delivery.Nacked, nacked.LastFailure().Class)
	require.Nil(t, nacked.Before)
	require.Equal(t, delivery.Unacknowledged, report.Unacknowledged(wire.At(noon)).Acceptance().LastFailure().Class)
}
