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

// What is deferred lets others go, until its deadline is near or nothing matters more.
func TestDeferredCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, far := New(least, 4), 2*tuning.DeferrableFrom
		call := func(left time.Duration) (waited time.Duration) {
			began := time.Now()
			_, ok := limiter.Acquire(t.Context(), began.Add(left))
			require.True(t, ok)
			limiter.Release(time.Millisecond)
			return time.Since(began)
		}
		require.Zero(t, call(far), "nothing matters more")
		limiter.Defer(time.Second)
		require.Zero(t, call(tuning.DeferrableFrom-time.Millisecond), "its deadline is near")
		require.Equal(t, time.Second, call(far))
		require.Zero(t, call(far), "it is over")

		limiter.Defer(time.Second)
		var done sync.WaitGroup
		done.Go(func() { require.Equal(t, 5400*time.Millisecond, call(tuning.DeferrableFrom+5*time.Second)) })
		for range 6 { // longer than the deadline is far
			<-time.After(900 * time.Millisecond)
			limiter.Defer(time.Second)
			require.Zero(t, call(0))
		}
		done.Wait()
		require.Zero(t, limiter.InUse())
		require.InDelta(t, tuning.FirstRate, limiter.Rate(), 0, "a server that had other work is not measured")
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
