package dispatches

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/tuning"
)

// More slow dispatches of one type than a worker has places keep no other type waiting, and
// those that wait say so.
func TestSlowDispatchesOfOneTypeHoldUpNoOther(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t) // workers of other tests would have places as well
	env, r := testenv.Open(t, addr), receiver.New(t)
	env.StartWorker()
	url := r.On("/turns", receiver.Status(200))
	env.Policy("d-turns-slow", testenv.JSON{"callback": testenv.JSON{"url": url}})
	env.Policy("d-turns-quick", testenv.JSON{"callback": testenv.JSON{"url": url}})
	d := env.Engine.Dispatches
	waiting := func() (all int) {
		for n := range tuning.DispatchSlots + 2 {
			view, err := d.Get(t.Context(), mass("d-turns-slow", strconv.Itoa(n), 0.001).Key)
			require.NoError(t, err)
			if view.WaitsFor == delivery.WaitsForTurn {
				all++
			}
		}
		return all
	}
	for n := range tuning.DispatchSlots + 2 {
		_, _, err := d.Add(t.Context(), mass("d-turns-slow", strconv.Itoa(n), 0.001), dispatchItems(3))
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		for n := range tuning.DispatchSlots + 2 {
			_, _, _ = d.Cancel(t.Context(), mass("d-turns-slow", strconv.Itoa(n), 0.001).Key, 0)
		}
	})
	require.Eventually(t, func() bool { return waiting() >= 2 }, testenv.Patience, 200*time.Millisecond, "the others have the places")
	// The slow ones give nothing up by themselves for ten minutes, which nothing here waits for.
	_, _, err := d.Add(t.Context(), mass("d-turns-quick", "a", 100), dispatchItems(20))
	require.NoError(t, err)
	awaitDispatch(t, env, mass("d-turns-quick", "a", 100).Key, in(dispatch.Done))
}
