package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pace is a known rate of completions.
type pace float64

func (p pace) Rate() float64 { return float64(p) }

func TestHoldsWhatCanBeRecordedInTime(t *testing.T) {
	for name, c := range map[string]struct {
		rate       pace
		recordTime time.Duration
		room       int
	}{
		"rate by time":         {200, 10 * time.Second, 2000},
		"a longer time, more":  {200, 40 * time.Second, 8000},
		"however slow":         {1, time.Second, minHeld},
		"no time at all":       {200, -time.Second, minHeld},
		"bounded by memory":    {5000, 40 * time.Second, maxHeld},
		"a fraction of a task": {200.5, time.Second, 200},
	} {
		t.Run(name, func(t *testing.T) {
			hold := NewHold(c.rate)
			var leaves []func()
			for n := range c.room {
				leave, ok := hold.Enter(c.recordTime)
				require.True(t, ok, "place %d", n)
				leaves = append(leaves, leave)
			}
			_, ok := hold.Enter(c.recordTime)
			require.False(t, ok)
			leaves[0]()
			_, ok = hold.Enter(c.recordTime)
			require.True(t, ok, "a place that was left is free")
		})
	}
}

// What must be recorded later keeps nobody out that is recorded before it.
func TestALongPreloadKeepsNobodyOut(t *testing.T) {
	hold := NewHold(pace(100))
	for range 4000 {
		_, ok := hold.Enter(40 * time.Second)
		require.True(t, ok)
	}
	_, ok := hold.Enter(40 * time.Second)
	require.False(t, ok)
	for range 700 {
		_, ok := hold.Enter(7 * time.Second)
		require.True(t, ok)
	}
	_, ok = hold.Enter(7 * time.Second)
	require.False(t, ok)
}
