package timer_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestRedeliveryCheck(t *testing.T) {
	t.Parallel()
	good := timer.Redelivery{Filter: timer.FailedFilter{BusinessType: "x"}, PerSecond: timer.DefaultRedeliveryRate}
	for pointer, alter := range map[string]func(*timer.Redelivery){
		"":                      func(*timer.Redelivery) {},
		"/filter/business_type": func(r *timer.Redelivery) { r.Filter.BusinessType = "A'" },
		"/filter/ended_to":      func(r *timer.Redelivery) { r.Filter.EndedFrom, r.Filter.EndedTo = 2, 1 },
		"/per_second":           func(r *timer.Redelivery) { r.PerSecond = math.NaN() },
	} {
		order := good
		alter(&order)
		errs := order.Check()
		if pointer == "" {
			require.Empty(t, errs)
			continue
		}
		require.Len(t, errs, 1, pointer)
		require.Equal(t, pointer, errs[0].Pointer)
	}
	for rate, ok := range map[float64]bool{0: false, 0.09: false, 0.1: true, 1000: true, 1000.1: false, -1: false} {
		good.PerSecond = rate
		require.Equal(t, ok, len(good.Check()) == 0, "%v", rate)
	}
}
