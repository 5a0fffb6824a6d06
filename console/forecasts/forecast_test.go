package forecasts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/wire"
)

// Under a lower limit dispatches send less at once, and the rest later. The page computes from the items under the
// present limit what the API tells once the lower one is in force.
func TestDispatchesSendTheRestLater(t *testing.T) {
	t.Parallel()
	from := wire.At(time.Date(2026, 11, 26, 2, 51, 0, 0, time.UTC))
	var slots []forecast.Slot
	for i, due := range []int{10, 30, 0, 30, 7, 20, 7, 7, 0} {
		slot := forecast.Slot{At: from.Add(time.Duration(i) * time.Minute), Width: time.Minute, Due: due}
		if i == 2 || i == 3 {
			slot.Items = 1.5 // less than their part of 2, and more than that of 1
		}
		slots = append(slots, slot)
	}
	told := func(limit float64) []forecast.Step {
		f := forecast.Forecast{CountedAt: from, CallbacksPerSecond: &limit, Overdue: 20, Step: wire.Duration(time.Minute)}
		f.Divide(slots, from, slots[len(slots)-1].End())
		return f.Steps
	}
	shown := calls.Forecast{CountedAt: from.Time(), Overdue: 20}
	for _, step := range told(2) {
		shown.Steps = append(shown.Steps, calls.Step{At: step.At.Time(), Due: step.Due, DispatchItems: step.DispatchItems})
	}
	require.Equal(t, 90, shown.Steps[3].DispatchItems)
	for _, limit := range []float64{1, 2} {
		computeLateness(shown, limit)
		for i, step := range told(limit) {
			late, _ := time.ParseDuration(shown.Steps[i].Lateness) // "" for none
			require.Equal(t, step.Lateness.D(), late, "minute %d with a limit of %g", i, limit)
		}
	}
	require.Zero(t, shown.Steps[4].DispatchItems)
	require.Greater(t, told(1)[4].Lateness.D(), 10*told(2)[4].Lateness.D(), "the control: there is a rest, which slows timers down")
}
