package forecast_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// A dispatch takes its part of the limit while its items last, and timers have the rest.
func TestForecastWithADispatch(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, wire.At(noon)
	view := dispatch.View{Status: dispatch.Scheduled, PerSecond: 6, Items: ptr(540), Memo: dispatch.Memo{DueAt: at.Add(time.Minute)}}
	sent := forecast.OfDispatch(view, at, at.Add(time.Hour), rate)
	require.Equal(t, []forecast.Sending{{From: at.Add(time.Minute), To: at.Add(time.Minute + 90*time.Second), PerSecond: 6}}, sent)
	slots := minutes(300, 300, 300, 300, 300)
	for i := range slots {
		slots[i].Share(sent[0])
	}
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(5*time.Minute))
	require.Equal(t, []forecast.Step{
		{At: at, Due: 300},
		{At: at.Add(1 * time.Minute), Due: 300, DispatchItems: 360, Overflows: true, Lateness: wire.Duration(15 * time.Second)},
		{At: at.Add(2 * time.Minute), Due: 300, DispatchItems: 180, Lateness: wire.Duration(8 * time.Second)},
		{At: at.Add(3 * time.Minute), Due: 300}, {At: at.Add(4 * time.Minute), Due: 300},
	}, f.Steps)
	f.CallbacksPerSecond = nil
	f.Divide(slots, at.Add(time.Minute), at.Add(2*time.Minute))
	require.Equal(t, []forecast.Step{{At: at.Add(time.Minute), Due: 300, DispatchItems: 360}}, f.Steps, "without a limit nothing is late")
}

// A tenth of the limit remains for timers, beside the fastest dispatch.
func TestForecastWithADispatchThatTakesAll(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, wire.At(noon)
	view := dispatch.View{Status: dispatch.Running, PerSecond: 100, Items: ptr(640), Done: 90, Failed: 10}
	sent := forecast.OfDispatch(view, at, at.Add(time.Hour), rate)
	require.Equal(t, at.Add(time.Minute), sent[0].To, "540 items, 9 in a second")
	slots := minutes(60, 60, 61)
	for i := range slots {
		slots[i].Share(sent[0])
	}
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(3*time.Minute))
	require.Equal(t, []forecast.Step{{At: at, Due: 60, DispatchItems: 540}, {At: at.Add(time.Minute), Due: 60}, {At: at.Add(2 * time.Minute), Due: 61}}, f.Steps)
	held := 0.0
	f.CallbacksPerSecond, f.Overdue = &held, 7
	f.Divide(slots, at, at.Add(time.Minute))
	require.Equal(t, []forecast.Step{{At: at, Due: 60}}, f.Steps, "what is held back sends nothing")
}

func TestWhatDispatchesSendAhead(t *testing.T) {
	t.Parallel()
	at := wire.At(noon)
	hourly := &recurrence.Rule{Every: ptr(wire.Duration(time.Hour))}
	last := &dispatch.End{Done: 100, Failed: 20}
	memo := dispatch.Memo{DueAt: at.Add(time.Hour), Cursor: recurrence.Cursor{Booked: at}}
	until := func(view dispatch.View) (ends []time.Duration) {
		view.PerSecond, view.Memo = 2, memo
		for _, sent := range forecast.OfDispatch(view, at, at.Add(3*time.Hour), 0) {
			ends = append(ends, sent.To.Time().Sub(noon))
		}
		return ends
	}
	for name, c := range map[string]struct {
		view dispatch.View
		want []time.Duration
	}{
		"it warms up":              {dispatch.View{Status: dispatch.Scheduled, Items: ptr(120), WarmUp: wire.Duration(20 * time.Second)}, []time.Duration{time.Hour + 70*time.Second}},
		"of unknown size":          {dispatch.View{Status: dispatch.Scheduled}, nil},
		"running, of unknown size": {dispatch.View{Status: dispatch.Running}, []time.Duration{time.Hour}},
		"nearly done":              {dispatch.View{Status: dispatch.Running, Items: ptr(120), Done: 100, Failed: 20}, []time.Duration{0}},
		"paused":                   {dispatch.View{Status: dispatch.Paused, Items: ptr(120)}, nil},
		"uploading":                {dispatch.View{Status: dispatch.Uploading, Items: ptr(120)}, nil},
		"of the size of the last":  {dispatch.View{Status: dispatch.Scheduled, Last: last, DueAt: memo.DueAt}, []time.Duration{time.Hour + time.Minute}},
		"each hour":                {dispatch.View{Status: dispatch.Scheduled, Last: last, DueAt: memo.DueAt, Recurrence: hourly}, []time.Duration{time.Hour + time.Minute, 2*time.Hour + time.Minute}},
	} {
		require.Equal(t, c.want, until(c.view), name)
	}
	require.Empty(t, until(dispatch.View{Status: dispatch.Done, Items: ptr(120)}))
	quick := dispatch.View{Status: dispatch.Running, PerSecond: 1000, Items: ptr(90)}
	slot := minutes(0)[0]
	slot.Share(forecast.OfDispatch(quick, at, at.Add(time.Hour), 10)[0])
	require.InDelta(t, 1.5, slot.Items, 1e-9, "10 s at 9 in a second, and none for the rest of the minute")
}

// Two dispatches at once have one share together. They take twice as long, and no item is left out.
func TestForecastWithTwoDispatches(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, wire.At(noon)
	view := dispatch.View{Status: dispatch.Scheduled, PerSecond: 9, Items: ptr(540), Memo: dispatch.Memo{DueAt: at}}
	slots := minutes(60, 120, 600)
	for range 2 {
		slots[0].Share(forecast.OfDispatch(view, at, at.Add(time.Hour), rate)[0])
	}
	f := forecast.Forecast{CountedAt: at, Step: wire.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(3*time.Minute))
	require.Equal(t, []forecast.Step{
		{At: at, Due: 60, DispatchItems: 540},
		{At: at.Add(time.Minute), Due: 120, DispatchItems: 540, Overflows: true, Lateness: wire.Duration(time.Minute)},
		{At: at.Add(2 * time.Minute), Due: 600, Overflows: true, Lateness: wire.Duration(6 * time.Second)},
	}, f.Steps)
	f.CallbacksPerSecond = nil
	f.Divide(slots, at, at.Add(2*time.Minute))
	require.Equal(t, []int{1080, 0}, []int{f.Steps[0].DispatchItems, f.Steps[1].DispatchItems}, "without a limit each has its own rate")
}
