package policy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

func claimed(dispatch string, perSecond float64, since time.Duration) policy.Claim {
	at := wire.At(noon)
	return policy.Claim{Dispatch: dispatch, PerSecond: perSecond, Since: at.Add(since), Until: at.Add(time.Minute)}
}

func limited(perSecond float64, claims ...policy.Claim) policy.Policy {
	return policy.Policy{Limits: policy.Limits{CallbacksPerSecond: &perSecond}, Claims: claims}
}

// For any claims, the timers of a type and its dispatches stay within its limit together, and
// the timers have a tenth of it.
func TestALimitIsShared(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	for _, limit := range []float64{policy.MinRate, 0.005, 1, 100, 5000} {
		for _, rates := range [][]float64{{0.001}, {1}, {50}, {50, 60}, {10000, 10000, 3}} {
			p := limited(limit)
			for n, rate := range rates {
				p.Claims = append(p.Claims, claimed(string(rune('a'+n)), rate, 0))
			}
			timers := *p.QueueRate(p.Claims, later)
			sum := timers
			for n, rate := range rates {
				sum += p.DispatchRate(string(rune('a'+n)), rate, later)
			}
			require.LessOrEqual(t, sum, limit*1.000001)
			require.GreaterOrEqual(t, timers, math.Max(limit*0.0999, policy.MinRate), "Temporal takes less for no limit")
		}
	}
	require.Nil(t, policy.Policy{Claims: limited(1).Claims}.QueueRate([]policy.Claim{claimed("a", 1, 0)}, noon))
	paused := limited(10, claimed("a", 1, 0))
	paused.Paused = true
	require.Zero(t, *paused.QueueRate(paused.Claims, noon))
	require.InDelta(t, 10, *limited(10).QueueRate(nil, noon), 0)
}

func TestClaims(t *testing.T) {
	t.Parallel()
	now := wire.At(noon)
	p := limited(10, claimed("a", 5, -time.Hour), claimed("b", 6, 0))
	require.False(t, policy.Renews(p, p.Claims[0], now))
	require.True(t, policy.Renews(p, claimed("a", 7, 0), now), "another rate")
	require.True(t, policy.Renews(p, claimed("c", 7, 0), now), "the first time")
	require.True(t, policy.Renews(p, claimed("a", 5, 0), now.Add(-time.Hour)) == false, "it holds for long")
	longer := p.Claims[0]
	longer.Until = now.Add(3 * time.Minute)
	require.True(t, policy.Renews(p, longer, now))
	require.False(t, policy.Renews(policy.Policy{}, longer, now), "there is no limit")

	longer.Since = 0
	p.Claims = p.Claims.WithClaim(longer, now)
	require.Len(t, p.Claims, 2)
	require.Equal(t, now.Add(-time.Hour), p.Claims[1].Since, "it is the same claim")
	claims, next := p.Claims.InForce(now)
	require.Len(t, claims, 2)
	require.Equal(t, now.Add(time.Minute), next)
	claims, next = p.Claims.InForce(now.Add(2 * time.Minute))
	require.Equal(t, p.Claims[1:], claims)
	require.Equal(t, longer.Until, next)
	require.Empty(t, p.Claims.WithClaim(policy.Claim{Dispatch: "a"}, now.Add(2*time.Minute)))
	_, next = p.Claims.InForce(now.Add(time.Hour))
	require.Zero(t, next)
}
