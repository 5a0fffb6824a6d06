package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A policy records when its last stream ended, so that attempts that still wait for its
// receivers are found.
func TestStreamedUntil(t *testing.T) {
	t.Parallel()
	stream := policy.Policy{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}
	http := policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://h/")}}
	first, second := wire.At(noon), wire.At(noon).Add(1)
	require.Zero(t, http.NextVersion(http, first).StreamedUntil)
	ended := http.NextVersion(stream, first)
	require.Equal(t, first, ended.StreamedUntil)
	require.Equal(t, first, http.NextVersion(ended, second).StreamedUntil)
	require.Zero(t, stream.NextVersion(ended, second).StreamedUntil)
	require.Equal(t, second, http.NextVersion(stream.NextVersion(ended, second), second).StreamedUntil)
	require.Empty(t, policy.Differences(http.NextVersion(http, first), ended), "nobody has put it")

	// With another link, a wait without bound gets one.
	behind, before := stream, http
	behind.Fallback = &delivery.Fallback{Callback: http.Callback}
	before.Fallback = &delivery.Fallback{Callback: stream.Callback}
	for _, two := range []policy.Policy{behind, before} {
		require.True(t, two.Streams())
		require.False(t, two.OnlyStreams())
		require.Equal(t, first, two.NextVersion(stream, first).StreamedUntil)
		require.Equal(t, first, http.NextVersion(two, first).StreamedUntil)
		require.Zero(t, two.NextVersion(http, first).StreamedUntil)
		require.Zero(t, stream.NextVersion(two, first).StreamedUntil)
	}
}

// If receivers connect, a timer cannot call elsewhere, and cannot choose the stream itself.
func TestATimerFollowsTheStream(t *testing.T) {
	t.Parallel()
	stream := policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}
	for pointer, own := range map[string]delivery.Destination{"/callback/url": delivery.HTTP("https://h/"), "/callback/broker": {Broker: "main"}} {
		errs := stream.RefuseOwn(delivery.Callback{Destination: own})
		require.Len(t, errs, 1)
		require.Equal(t, pointer, errs[0].Pointer)
		require.Empty(t, policy.Policy{}.RefuseOwn(delivery.Callback{Destination: own}))
	}
	require.Empty(t, stream.RefuseOwn(delivery.Callback{Timeout: 1}))
	errs := timer.Terms{Callback: &delivery.Callback{Destination: delivery.Destination{Stream: true}}}.Check(noon)
	require.Len(t, errs, 1)
	require.Equal(t, "/callback/stream", errs[0].Pointer)
}
