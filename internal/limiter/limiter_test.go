package limiter

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// least is a constant limit.
const least = 2

func TestTheEarliestDeadlineGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := New(least, 4)
		now := time.Now()
		for range least {
			waited, ok := limiter.Acquire(t.Context(), now)
			require.True(t, ok)
			require.False(t, waited)
		}
		var mu sync.Mutex
		var order []time.Duration
		for _, left := range []time.Duration{3, 1, 2, 0} {
			go func() {
				limiter.Acquire(t.Context(), now.Add(left))
				mu.Lock()
				order = append(order, left)
				mu.Unlock()
			}()
		}
		synctest.Wait()
		require.Empty(t, order, "no more at once")
		for range 4 {
			limiter.limit = least
			limiter.Release(time.Millisecond)
			synctest.Wait()
		}
		require.Equal(t, []time.Duration{0, 1, 2, 3}, order)
		for range least {
			limiter.Release(time.Millisecond)
		}
		require.Zero(t, limiter.InUse())
	})
}

// An engine that does n things at once as fast as one gets n at once, and few more.
func TestAsManyAtOnceAsDoNotSlowOneAnotherDown(t *testing.T) {
	for _, c := range []struct {
		least, cores int
		slowdown     float64
	}{
		{2, 1, 4}, {2, 8, 4}, {8, 1, 8}, {8, 8, 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			limiter := New(c.least, c.slowdown)
			var mu sync.Mutex
			atOnce, most := 0, 0
			engine := func() (took time.Duration) {
				mu.Lock()
				atOnce++
				most = max(most, atOnce)
				took = 5 * time.Millisecond * time.Duration(max(atOnce, c.cores)) / time.Duration(c.cores)
				mu.Unlock()
				<-time.After(took)
				mu.Lock()
				atOnce--
				mu.Unlock()
				return took
			}
			var done sync.WaitGroup
			for range 3000 {
				done.Go(func() {
					limiter.Acquire(t.Context(), time.Time{})
					limiter.Release(engine())
				})
			}
			done.Wait()
			require.Zero(t, limiter.InUse())
			require.Empty(t, limiter.waiting)
			asked := c.slowdown * float64(c.cores)
			require.GreaterOrEqual(t, float64(most), min(asked, tuning.MaxConcurrency))
			require.LessOrEqual(t, float64(most), 2*asked)
		})
	}
}
