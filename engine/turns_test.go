package engine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatTimesOutFirstGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(leastRecords, recordSlowdown)
		now := time.Now()
		for range leastRecords {
			waited, ok := turns.take(t.Context(), now)
			require.True(t, ok)
			require.False(t, waited)
		}
		var mu sync.Mutex
		var order []time.Duration
		for _, left := range []time.Duration{3, 1, 2, 0} {
			go func() {
				turns.take(t.Context(), now.Add(left))
				mu.Lock()
				order = append(order, left)
				mu.Unlock()
			}()
		}
		synctest.Wait()
		require.Empty(t, order, "no more at once")
		for range 4 {
			turns.allowed = leastRecords
			turns.leave(time.Millisecond)
			synctest.Wait()
		}
		require.Equal(t, []time.Duration{0, 1, 2, 3}, order)
		for range leastRecords {
			turns.leave(time.Millisecond)
		}
		require.Zero(t, turns.taken)
	})
}

// An engine that does so many things at once as fast as one is asked for as
// many, and for not many more.
func TestAsManyAtOnceAsDoNotSlowOneAnotherDown(t *testing.T) {
	for _, c := range []struct {
		least, cores int
		slowdown     float64
	}{
		{leastRecords, 1, recordSlowdown}, {leastRecords, 8, recordSlowdown},
		{leastBookings, 1, bookingSlowdown}, {leastBookings, 8, bookingSlowdown},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(c.least, c.slowdown)
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
					turns.take(t.Context(), time.Time{})
					turns.leave(engine())
				})
			}
			done.Wait()
			require.Zero(t, turns.taken)
			require.Empty(t, turns.waiting)
			asked := c.slowdown * float64(c.cores)
			require.GreaterOrEqual(t, float64(most), min(asked, mostTurns))
			require.LessOrEqual(t, float64(most), 2*asked)
		})
	}
}
