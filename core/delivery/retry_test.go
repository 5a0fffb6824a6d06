package delivery_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

const middle = 0.5 // the chance at which jitter changes nothing

func seconds(steps ...int) (ladder []wire.Duration) {
	ladder = []wire.Duration{}
	for _, s := range steps {
		ladder = append(ladder, wire.Duration(time.Duration(s)*time.Second))
	}
	return ladder
}

func waits(r delivery.Retry, chance float64) (all []time.Duration) {
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
	r := delivery.Retry{Steps: seconds(10, 60)}
	require.Equal(t, 3, r.Attempts(), "n steps make 1 + n attempts")
	require.Equal(t, []time.Duration{10 * time.Second, time.Minute}, waits(r, middle))
	require.Empty(t, waits(delivery.Retry{Steps: seconds()}, middle), "no steps, no retry")
}

func TestExponentialLadder(t *testing.T) {
	t.Parallel()
	r := delivery.Retry{Initial: wire.Duration(time.Second), MaxInterval: wire.Duration(5 * time.Second), MaxAttempts: 5}.WithDefaults()
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}, waits(r, middle))
	require.Equal(t, 10, delivery.Retry{Initial: 1}.WithDefaults().Attempts())
	huge := delivery.Retry{Initial: wire.Duration(time.Hour), Multiplier: 100, MaxInterval: wire.Duration(delivery.MaxRetryStep), MaxAttempts: 100}
	for _, wait := range waits(huge, math.Nextafter(1, 0)) {
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, delivery.MaxRetryStep)
	}
}

func TestJitterSpreadsBothWays(t *testing.T) {
	t.Parallel()
	r := delivery.Retry{Steps: seconds(100), Jitter: 0.2}
	require.Equal(t, []time.Duration{80 * time.Second}, waits(r, 0))
	require.Equal(t, []time.Duration{100 * time.Second}, waits(r, middle))
	require.InDelta(t, float64(120*time.Second), float64(waits(r, math.Nextafter(1, 0))[0]), float64(time.Millisecond))
}

func TestRetryCheck(t *testing.T) {
	t.Parallel()
	second := wire.Duration(time.Second)
	require.Empty(t, delivery.Retry{Steps: seconds(1)}.Check())
	require.Empty(t, delivery.Retry{Initial: second, Multiplier: 1.5, Jitter: 1}.Check())
	require.Empty(t, delivery.DefaultRetry().Check())
	bad := map[string]delivery.Retry{
		"/steps":        {Steps: seconds(1), Initial: second},
		"/steps/1":      {Steps: []wire.Duration{second, 0}},
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
