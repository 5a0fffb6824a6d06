package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestABurstIsDispatchedOneAfterAnother(t *testing.T) {
	c := newBursts()
	alone := timer.Policy{}.WithDefaults().Preloading("booking")
	rings := timer.At(time.Now().Add(time.Hour))
	var leads []time.Duration
	for range 10_000 {
		p := c.preload(alone, rings)
		require.LessOrEqual(t, p.Lead, p.Window)
		leads = append(leads, p.Lead.D())
	}
	require.Equal(t, timer.DefaultPreload, leads[dispatchPerSecond-1], "a few need no more")
	perSecond := map[int]int{}
	for _, lead := range leads[dispatchPerSecond:4000] {
		perSecond[int(lead.Seconds())]++
	}
	for second, n := range perSecond {
		require.LessOrEqual(t, n, dispatchPerSecond+1, "in second %d before", second)
	}
	require.Equal(t, timer.MaxPreload, leads[9999])
	require.Equal(t, alone, c.preload(alone, rings.Add(time.Second)), "another second is another burst")
}

func TestAChosenPreloadStays(t *testing.T) {
	c := newBursts()
	rings := timer.At(time.Now())
	for _, chosen := range []time.Duration{0, time.Second} {
		p := timer.Preload{Lead: timer.Duration(chosen), Window: timer.Duration(chosen)}
		for range 1000 {
			require.Equal(t, p, c.preload(p, rings))
		}
	}
}

func TestBurstsForgetWhatIsOver(t *testing.T) {
	c := newBursts()
	now := time.Now().Unix()
	for second := range int64(maxSeconds) {
		c.count(now - second)
	}
	c.count(now + 100)
	require.Len(t, c.seconds, 2)
	for second := range int64(2 * maxSeconds) {
		c.count(now + 1000 + second)
	}
	require.LessOrEqual(t, len(c.seconds), maxSeconds)
}
