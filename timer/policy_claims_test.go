package timer_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func claimed(dispatch string, perSecond float64, since time.Duration) timer.DispatchClaim {
	at := timer.At(noon)
	return timer.DispatchClaim{Dispatch: dispatch, PerSecond: perSecond, Since: at.Add(since), Until: at.Add(time.Minute)}
}

func limited(perSecond float64, claims ...timer.DispatchClaim) timer.Policy {
	return timer.Policy{Limits: timer.Limits{CallbacksPerSecond: &perSecond}, Claims: claims}
}

// However much is claimed, the timers of a type and its dispatches stay within its limit
// together, and the timers have a tenth of it.
func TestALimitIsShared(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	for _, limit := range []float64{timer.MinRate, 0.005, 1, 100, 5000} {
		for _, rates := range [][]float64{{0.001}, {1}, {50}, {50, 60}, {10000, 10000, 3}} {
			policy := limited(limit)
			for n, rate := range rates {
				policy.Claims = append(policy.Claims, claimed(string(rune('a'+n)), rate, 0))
			}
			timers := *policy.QueueRate(policy.Claims, later)
			sum := timers
			for n, rate := range rates {
				sum += policy.DispatchRate(string(rune('a'+n)), rate, later)
			}
			require.LessOrEqual(t, sum, limit*1.000001)
			require.GreaterOrEqual(t, timers, math.Max(limit*0.0999, timer.MinRate), "Temporal takes less for no limit")
		}
	}
	require.Nil(t, timer.Policy{Claims: limited(1).Claims}.QueueRate([]timer.DispatchClaim{claimed("a", 1, 0)}, noon))
	paused := limited(10, claimed("a", 1, 0))
	paused.Paused = true
	require.Zero(t, *paused.QueueRate(paused.Claims, noon))
	require.InDelta(t, 10, *limited(10).QueueRate(nil, noon), 0)
}

func TestClaims(t *testing.T) {
	t.Parallel()
	now := timer.At(noon)
	policy := limited(10, claimed("a", 5, -time.Hour), claimed("b", 6, 0))
	require.False(t, policy.Renews(policy.Claims[0], now))
	require.True(t, policy.Renews(claimed("a", 7, 0), now), "another rate")
	require.True(t, policy.Renews(claimed("c", 7, 0), now), "the first time")
	require.True(t, policy.Renews(claimed("a", 5, 0), now.Add(-time.Hour)) == false, "it holds for long")
	longer := policy.Claims[0]
	longer.Until = now.Add(3 * time.Minute)
	require.True(t, policy.Renews(longer, now))
	require.False(t, timer.Policy{}.Renews(longer, now), "there is no limit")

	longer.Since = 0
	policy.Claims = policy.Claimed(longer, now)
	require.Len(t, policy.Claims, 2)
	require.Equal(t, now.Add(-time.Hour), policy.Claims[1].Since, "it is the same claim")
	claims, next := policy.Lapse(now)
	require.Len(t, claims, 2)
	require.Equal(t, now.Add(time.Minute), next)
	claims, next = policy.Lapse(now.Add(2 * time.Minute))
	require.Equal(t, policy.Claims[1:], claims)
	require.Equal(t, longer.Until, next)
	require.Empty(t, policy.Claimed(timer.DispatchClaim{Dispatch: "a"}, now.Add(2*time.Minute)))
	_, next = policy.Lapse(now.Add(time.Hour))
	require.Zero(t, next)
}
