package timer_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

const middle = 0.5 // the chance at which jitter changes nothing

func seconds(steps ...int) (ladder []timer.Duration) {
	ladder = []timer.Duration{}
	for _, s := range steps {
		ladder = append(ladder, timer.Duration(time.Duration(s)*time.Second))
	}
	return ladder
}

func waits(r timer.Retry, chance float64) (all []time.Duration) {
	for made := 1; ; made++ {
		wait, more := r.Wait(made, chance)
		if !more {
			return all
		}
		all = append(all, wait)
	}
}

func TestStepsLadder(t *testing.T) {
	t.Parallel()
	r := timer.Retry{Steps: seconds(10, 60)}
	require.Equal(t, 3, r.Attempts(), "n steps make 1 + n attempts")
	require.Equal(t, []time.Duration{10 * time.Second, time.Minute}, waits(r, middle))
	require.Empty(t, waits(timer.Retry{Steps: seconds()}, middle), "no steps, no retry")
}

func TestExponentialLadder(t *testing.T) {
	t.Parallel()
	r := timer.Retry{Initial: timer.Duration(time.Second), MaxInterval: timer.Duration(5 * time.Second), MaxAttempts: 5}.WithDefaults()
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}, waits(r, middle))
	require.Equal(t, 10, timer.Retry{Initial: 1}.WithDefaults().Attempts())
	huge := timer.Retry{Initial: timer.Duration(time.Hour), Multiplier: 100, MaxInterval: timer.Duration(timer.MaxRetryStep), MaxAttempts: 100}
	for _, wait := range waits(huge, math.Nextafter(1, 0)) {
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, timer.MaxRetryStep)
	}
}

func TestJitterSpreadsBothWays(t *testing.T) {
	t.Parallel()
	r := timer.Retry{Steps: seconds(100), Jitter: 0.2}
	require.Equal(t, []time.Duration{80 * time.Second}, waits(r, 0))
	require.Equal(t, []time.Duration{100 * time.Second}, waits(r, middle))
	require.InDelta(t, float64(120*time.Second), float64(waits(r, math.Nextafter(1, 0))[0]), float64(time.Millisecond))
}

func TestRetryCheck(t *testing.T) {
	t.Parallel()
	second := timer.Duration(time.Second)
	require.Empty(t, timer.Retry{Steps: seconds(1)}.Check())
	require.Empty(t, timer.Retry{Initial: second, Multiplier: 1.5, Jitter: 1}.Check())
	require.Empty(t, timer.DefaultRetry().Check())
	bad := map[string]timer.Retry{
		"/steps":        {Steps: seconds(1), Initial: second},
		"/steps/1":      {Steps: []timer.Duration{second, 0}},
		"/initial":      {},
		"/multiplier":   {Initial: second, Multiplier: 0.5},
		"/max_interval": {Initial: second, MaxInterval: 1},
		"/max_attempts": {Initial: second, MaxAttempts: 101},
		"/jitter":       {Steps: seconds(1), Jitter: math.NaN()},
	}
	for pointer, retry := range bad {
		errs := retry.Check()
		require.NotEmpty(t, errs, pointer)
		require.Equal(t, pointer, errs[0].Pointer)
	}
}

func TestCutToLatest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	latest := timer.At(now.Add(10 * time.Second))
	require.Equal(t, time.Hour, timer.CutTo(0, time.Hour, now), "no latest time, no cut")
	require.Equal(t, 10*time.Second, timer.CutTo(latest, time.Hour, now))
	require.Equal(t, time.Second, timer.CutTo(latest, time.Second, now))
	require.Zero(t, timer.CutTo(latest, time.Second, now.Add(time.Minute)))
}
