package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

func TestABurstIsDispatchedOneAfterAnother(t *testing.T) {
	c := newBursts()
	alone := policy.Policy{}.WithDefaults().Preloading("booking")
	rings := wire.At(time.Now().Add(time.Hour))
	var leads []time.Duration
	for range 10_000 {
		p := spread(c, alone, rings, tuning.DispatchPerSecond)
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
	require.Equal(t, alone, spread(c, alone, rings.Add(time.Second), tuning.DispatchPerSecond), "another second is another burst")
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
		p := spread(c, alone, wire.At(time.Now().Truncate(time.Second)), handOuts(53))
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
			require.Equal(t, p, spread(c, p, rings, tuning.DispatchPerSecond))
		}
	}
}
