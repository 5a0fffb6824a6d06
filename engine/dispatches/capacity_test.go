package dispatches

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// What the workers have shown is what is expected of them: the highest rate, or the one at
// which they fell behind of late, until they have shown more or a day has passed.
func TestWhatTheWorkersHaveShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &capacity{}
		unknown := tuning.DispatchPerCore * float64(cores)
		running := func(rate float64, why dispatch.Shortage) dispatch.View {
			return dispatch.View{Status: dispatch.Running, BehindWhy: why, Achieved: dispatch.Rates{Last10Seconds: rate}}
		}
		require.Zero(t, c.expect(50))
		require.Zero(t, c.expect(unknown))
		require.InDelta(t, unknown, c.expect(unknown*1.1), 0.01)

		c.observe(running(unknown*2, ""))
		require.Zero(t, c.expect(unknown*2))
		c.observe(running(300, dispatch.ShortOfSlots))
		require.Zero(t, c.expect(1000), "a receiver that is slow says nothing of the workers")
		c.observe(running(0, dispatch.ShortOfWorker))
		require.Zero(t, c.expect(1000), "nor does one that has sent nothing yet")

		c.observe(running(800, dispatch.ShortOfWorker))
		require.InDelta(t, 800, c.expect(1000), 0.01)
		require.Zero(t, c.expect(810))
		c.observe(running(500, ""))
		require.InDelta(t, 800, c.expect(1000), 0.01, "less was asked for")
		c.observe(dispatch.View{Status: dispatch.Done, Achieved: dispatch.Rates{Whole: 900, Last10Seconds: 1}})
		require.Zero(t, c.expect(1000), "it was for a while")

		c.observe(running(800, dispatch.ShortOfWorker))
		<-time.After(tuning.CapacityKnown)
		require.Zero(t, c.expect(1000))

		require.True(t, c.listDue(time.Now()))
		require.False(t, c.listDue(time.Now()))
		require.True(t, c.listDue(time.Now().Add(tuning.CapacityListed)))
	})
}
