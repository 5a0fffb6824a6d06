package job_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
)

func TestRedeliveryCheck(t *testing.T) {
	t.Parallel()
	good := job.Redelivery{Filter: job.FailedFilter{BusinessType: "x"}, PerSecond: job.DefaultRedeliveryRate}
	for pointer, alter := range map[string]func(*job.Redelivery){
		"":                      func(*job.Redelivery) {},
		"/filter/business_type": func(r *job.Redelivery) { r.Filter.BusinessType = "A'" },
		"/filter/ended_to":      func(r *job.Redelivery) { r.Filter.EndedFrom, r.Filter.EndedTo = 2, 1 },
		"/per_second":           func(r *job.Redelivery) { r.PerSecond = math.NaN() },
	} {
		order := good
		alter(&order)
		errs := order.Check(time.Time{})
		if pointer == "" {
			require.Empty(t, errs)
			continue
		}
		require.Len(t, errs, 1, pointer)
		require.Equal(t, pointer, errs[0].Pointer)
	}
	for rate, ok := range map[float64]bool{0: false, 0.09: false, 0.1: true, 1000: true, 1000.1: false, -1: false} {
		good.PerSecond = rate
		require.Equal(t, ok, len(good.Check(time.Time{})) == 0, "%v", rate)
	}
}
