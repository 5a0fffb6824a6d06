package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

func TestEachSecondIsCountedByItself(t *testing.T) {
	t.Parallel()
	c, at := newBursts(), time.Now().Truncate(time.Second)
	for n := range 3 {
		require.Equal(t, n, c.count(at.Add(time.Duration(n)*300*time.Millisecond)))
	}
	require.Zero(t, c.count(at.Add(time.Second)))
	require.Zero(t, c.count(at.Add(-time.Millisecond)))
}

func TestWhatIsOverIsForgotten(t *testing.T) {
	t.Parallel()
	c, now := newBursts(), time.Now()
	c.count(now.Add(100 * time.Second))
	for second := range tuning.BurstSeconds {
		c.count(now.Add(-time.Duration(second) * time.Second))
	}
	require.Equal(t, 1, c.count(now.Add(100*time.Second)), "what is to come stays")
	require.LessOrEqual(t, len(c.seconds), 3)
	c = newBursts()
	c.count(now)
	c.forget(now.Unix())
	require.Equal(t, 1, c.count(now), "the second under way stays")
	for second := range 2 * tuning.BurstSeconds {
		c.count(now.Add(time.Duration(1000+second) * time.Second))
	}
	require.LessOrEqual(t, len(c.seconds), tuning.BurstSeconds)
}

func TestABurstIsDispatchedOneAfterAnother(t *testing.T) {
	c := newBursts()
	alone := policy.Policy{}.WithDefaults().Preloading("booking")
	rings := wire.At(time.Now().Add(time.Hour))
	var leads []time.Duration
	for range 10_000 {
		p := c.spread(alone, rings, tuning.DispatchPerSecond)
		require.LessOrEqual(t, p.Lead, p.Window)
		leads = append(leads, p.Lead.D())
	}
	require.Equal(t, policy.DefaultPreload, leads[tuning.DispatchPerSecond-1], "a few need no more")
	perSecond := map[int]int{}
	for _, lead := range leads[tuning.DispatchPerSecond:4000] {
		perSecond[int(lead.Seconds())]++
	}
	for second, n := range perSecond {
		require.LessOrEqual(t, n, tuning.DispatchPerSecond+1, "in second %d before", second)
	}
	clear(perSecond)
	for _, lead := range leads {
		require.LessOrEqual(t, lead, policy.MaxPreload)
		perSecond[int(lead.Seconds())]++
	}
	even := len(leads) / int((policy.MaxPreload - policy.DefaultPreload).Seconds())
	for second := 5; second < 60; second++ {
		require.InDelta(t, even, perSecond[second], 10, "in second %d before: more than a minute can hold are spread as well", second)
	}
	require.Equal(t, alone, c.spread(alone, rings.Add(time.Second), tuning.DispatchPerSecond), "another second is another burst")
}

// A burst on an engine that is short of processors takes more time to be handed out, in
// proportion.
func TestABurstOnASlowEngine(t *testing.T) {
	for bookings, want := range map[float64]int{1000: 75, 300: 75, 200: 50, 53: 13, 5: 10, 0: 10} {
		require.Equal(t, want, handOuts(bookings), "%g bookings a second", bookings)
	}
	c := newBursts()
	alone := policy.Policy{}.WithDefaults().Preloading("booking")
	perSecond := map[int]int{}
	for range 600 {
		p := c.spread(alone, wire.At(time.Now().Truncate(time.Second)), handOuts(53))
		perSecond[int(p.Lead.D().Seconds())]++
	}
	for second := 3; second < 40; second++ {
		require.InDelta(t, 13, perSecond[second], 1, "in second %d before", second)
	}
}

func TestAChosenPreloadStays(t *testing.T) {
	c := newBursts()
	rings := wire.At(time.Now())
	for _, chosen := range []time.Duration{0, time.Second} {
		p := policy.Preload{Lead: wire.Duration(chosen), Window: wire.Duration(chosen)}
		for range 1000 {
			require.Equal(t, p, c.spread(p, rings, tuning.DispatchPerSecond))
		}
	}
}
