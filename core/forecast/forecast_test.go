package forecast_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// minutes returns slots of a minute from noon on.
func minutes(due ...int) (slots []forecast.Slot) {
	for i, n := range due {
		slots = append(slots, forecast.Slot{At: wire.At(noon).Add(time.Duration(i) * time.Minute), Width: time.Minute, Due: n})
	}
	return slots
}

func TestForecastSaysWhatOverflows(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, wire.At(noon)
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(minutes(600, 900, 600, 0, 300, 0, 30), at, at.Add(7*time.Minute))
	require.Equal(t, []forecast.Step{
		{At: at, Due: 600},
		{At: at.Add(1 * time.Minute), Due: 900, Overflows: true, Lateness: wire.Duration(30 * time.Second)},
		{At: at.Add(2 * time.Minute), Due: 600, Overflows: true, Lateness: wire.Duration(30 * time.Second)},
		{At: at.Add(3 * time.Minute)},
		{At: at.Add(4 * time.Minute), Due: 300}, {At: at.Add(5 * time.Minute)}, {At: at.Add(6 * time.Minute), Due: 30},
	}, f.Steps)

	f.Overdue = 300
	f.Divide(minutes(0, 1, 1), at, at.Add(3*time.Minute))
	require.Equal(t, []bool{false, false, false}, []bool{f.Steps[0].Overflows, f.Steps[1].Overflows, f.Steps[2].Overflows}, "300 are done in 30 seconds")
	f.Overdue = 1200
	f.Divide(minutes(0, 1, 1), at, at.Add(3*time.Minute))
	require.Equal(t, wire.Duration(60*time.Second), f.Steps[1].Lateness, "what is overdue goes first")

	f.CallbacksPerSecond = nil
	f.Divide(minutes(100_000, 7), at, at.Add(2*time.Minute))
	require.Equal(t, []forecast.Step{{At: at, Due: 100_000}, {At: at.Add(time.Minute), Due: 7}}, f.Steps)
}

// Slots of a second show simultaneous timers; steps are sums of slots.
func TestForecastOfOneInstant(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, wire.At(noon)
	slots := []forecast.Slot{}
	for i := range 60 {
		slots = append(slots, forecast.Slot{At: at.Add(time.Duration(i) * time.Second), Width: time.Second})
	}
	slots[0].Due = 310
	slots = append(slots, minutes(0, 60)[1])
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(2 * time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(2*time.Minute))
	require.Equal(t, []forecast.Step{{At: at, Due: 370, Lateness: wire.Duration(30 * time.Second)}}, f.Steps, "late, and yet done within the step")
	f.CountedAt = at.Add(30 * time.Second)
	f.Divide(slots, at.Add(time.Minute), at.Add(3*time.Minute))
	require.Equal(t, 60, f.Steps[0].Due)
}

func TestWhatARuleRingsAhead(t *testing.T) {
	t.Parallel()
	booked, err := timer.Admit(key, timer.Terms{Recurrence: &recurrence.Rule{Every: ptr(wire.Duration(time.Minute))}}, "b", noon)
	require.NoError(t, err)
	end := booked.DueAt.Add(10 * time.Hour)
	times := booked.NominalTimes(end, 100_000)
	require.Len(t, times, 599, "without the next one, and without the end")
	require.Equal(t, booked.DueAt.Add(time.Minute), times[0])
	require.Equal(t, end.Add(-time.Minute), times[len(times)-1])
	require.Len(t, booked.NominalTimes(end, 99), 99)
	require.Empty(t, timer.Memo{}.NominalTimes(end, 10))
	booked.Series.Paused = true
	require.Empty(t, booked.NominalTimes(end, 10))
}

// With a very slow rate and a very large number, the end exceeds a duration.
func TestWhatTakesCenturies(t *testing.T) {
	t.Parallel()
	slow, at, items := policy.MinRate, wire.At(noon), 100_000_000_000
	century := 100 * 365 * 24 * time.Hour
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(time.Minute), CallbacksPerSecond: &slow}
	f.Overdue = items
	f.Divide(minutes(1), at, at.Add(time.Minute))
	require.Equal(t, wire.Duration(century), f.Steps[0].Lateness)

	view := dispatch.View{Status: dispatch.Running, PerSecond: dispatch.MinRate, Items: &items}
	ahead := forecast.OfDispatch(view, at, at.Add(time.Hour), 0)
	require.Equal(t, at.Add(century), ahead[0].To)

	memo := dispatch.Memo{Status: dispatch.Running, Items: &items, StartedAt: at}
	memo.Plan.PerSecond = dispatch.MinRate
	require.Zero(t, memo.View().Count(memo, nil, policy.Holds{}, noon).EstimatedEnd)
	memo.Plan.PerSecond = float64(items) / 1000
	require.Equal(t, at.Add(1000*time.Second), memo.View().Count(memo, nil, policy.Holds{}, noon).EstimatedEnd)
}

// A part of a slot has its part of the timers.
func TestPartsOfSlots(t *testing.T) {
	t.Parallel()
	slot := minutes(61)[0]
	require.Equal(t, forecast.Slot{At: slot.At, Width: 20 * time.Second, Due: 20}, slot.Until(slot.At.Add(20*time.Second)))
	require.Equal(t, slot, slot.Until(slot.End()))
	require.Equal(t, slot, slot.Until(slot.End().Add(time.Hour)))
}
