package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// evenly are the arrivals of ten seconds at 500 a second, each moved by shift.
func evenly(shift func(n int, at time.Duration) time.Duration) (arrivals []time.Time) {
	began := time.Unix(1_800_000_000, 0)
	const rate = 500.0
	for n := range 10 * int(rate) {
		at := time.Duration(float64(n) / rate * float64(time.Second))
		arrivals = append(arrivals, began.Add(shift(n, at)))
	}
	return arrivals
}

// The oracle passes a flat curve, and names the faults of another.
func TestTheCurveIsJudged(t *testing.T) {
	t.Parallel()
	asIs := func(_ int, at time.Duration) time.Duration { return at }
	require.Empty(t, CurveOf(500, evenly(asIs)).Uneven())
	require.Empty(t, CurveOf(500, evenly(func(n int, at time.Duration) time.Duration {
		return at + time.Duration(n%7)*time.Millisecond
	})).Uneven(), "milliseconds do not count")
	gap := func(_ int, at time.Duration) time.Duration { // nothing for a second and a half, then all at once
		if at > 4*time.Second && at < 5500*time.Millisecond {
			return 5500 * time.Millisecond
		}
		return at
	}
	require.Equal(t, []string{"second 4: 1 items", "second 5: 999 items are a burst"}, CurveOf(500, evenly(gap)).Uneven())
	require.Equal(t, []string{"second 5: 999 items are a burst"},
		CurveOf(500, evenly(gap)).Uneven(Window{3 * time.Second, 7 * time.Second}), "a burst is never excused")
	slow := func(_ int, at time.Duration) time.Duration { return at + at/12 }
	require.NotEmpty(t, CurveOf(500, evenly(slow)).Uneven())
	require.InDelta(t, 0.076, CurveOf(500, evenly(slow)).Worst(), 0.01)
}
