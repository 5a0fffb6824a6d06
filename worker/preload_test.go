package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// pace is a known rate of completions.
type pace float64

func (p pace) Rate() float64 { return float64(p) }

func TestPreloadsWhatCanBeRecordedInTime(t *testing.T) {
	for name, c := range map[string]struct {
		rate       pace
		recordTime time.Duration
		room       int
	}{
		"rate by time":         {200, 10 * time.Second, 2000},
		"a longer time, more":  {200, 40 * time.Second, 8000},
		"however slow":         {1, time.Second, tuning.MinPreloaded},
		"no time at all":       {200, -time.Second, tuning.MinPreloaded},
		"bounded by memory":    {5000, 40 * time.Second, tuning.MaxPreloaded},
		"a fraction of a task": {200.5, time.Second, 200},
	} {
		t.Run(name, func(t *testing.T) {
			preload := NewPreload(c.rate)
			var leaves []func()
			for n := range c.room {
				leave, ok := preload.enter(c.recordTime)
				require.True(t, ok, "place %d", n)
				leaves = append(leaves, leave)
			}
			_, ok := preload.enter(c.recordTime)
			require.False(t, ok)
			leaves[0]()
			_, ok = preload.enter(c.recordTime)
			require.True(t, ok, "a place that was left is free")
		})
	}
}

// A timer that is recorded later keeps out none that is recorded before it.
func TestALongPreloadKeepsNobodyOut(t *testing.T) {
	preload := NewPreload(pace(100))
	for range 4000 {
		_, ok := preload.enter(40 * time.Second)
		require.True(t, ok)
	}
	_, ok := preload.enter(40 * time.Second)
	require.False(t, ok)
	for range 700 {
		_, ok := preload.enter(7 * time.Second)
		require.True(t, ok)
	}
	_, ok = preload.enter(7 * time.Second)
	require.False(t, ok)
}

// Timers preloaded at their booking leave half of the places to others.
func TestBookingsLeaveRoom(t *testing.T) {
	preload := NewPreload(pace(100))
	for n := range 500 {
		require.True(t, preload.room(10*time.Second, 100), "place %d", n)
		_, ok := preload.enter(10 * time.Second)
		require.True(t, ok)
	}
	require.False(t, preload.room(10*time.Second, 100))
	require.True(t, preload.room(9*time.Second, 100), "what is recorded before is not kept out")
	_, ok := preload.enter(10 * time.Second)
	require.True(t, ok)
}

// A rate measured on an idle engine does not apply to a busy one.
func TestBookingsThatTakeLongLeaveMoreRoom(t *testing.T) {
	preload := NewPreload(pace(100))
	for range 100 {
		require.True(t, preload.room(10*time.Second, 20))
		_, ok := preload.enter(10 * time.Second)
		require.True(t, ok)
	}
	require.False(t, preload.room(10*time.Second, 20))
	require.True(t, preload.room(10*time.Second, 1000), "the slower one counts")
	require.False(t, preload.room(10*time.Second, 1), "some are taken in any case, but not more")
}
