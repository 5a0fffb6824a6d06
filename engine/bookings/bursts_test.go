package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
