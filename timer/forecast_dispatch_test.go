package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// A dispatch claims a part of the limit for as long as its items take, and timers have what
// is left.
func TestForecastWithADispatch(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, timer.At(noon)
	view := timer.DispatchView{Status: timer.DispatchScheduled, PerSecond: 6, Items: ptr(540), Memo: timer.DispatchMemo{DueAt: at.Add(time.Minute)}}
	sent := view.Ahead(at, at.Add(time.Hour), rate)
	require.Equal(t, []timer.ForecastDispatch{{From: at.Add(time.Minute), To: at.Add(time.Minute + 90*time.Second), PerSecond: 6}}, sent)
	slots := minutes(300, 300, 300, 300, 300)
	for i := range slots {
		slots[i].Share(sent[0])
	}
	f := timer.Forecast{CountedAt: at, Step: timer.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(5*time.Minute))
	require.Equal(t, []timer.ForecastStep{
		{At: at, Due: 300},
		{At: at.Add(1 * time.Minute), Due: 300, DispatchItems: 360, Overflows: true, Lateness: timer.Duration(15 * time.Second)},
		{At: at.Add(2 * time.Minute), Due: 300, DispatchItems: 180, Lateness: timer.Duration(8 * time.Second)},
		{At: at.Add(3 * time.Minute), Due: 300}, {At: at.Add(4 * time.Minute), Due: 300},
	}, f.Steps)
	f.CallbacksPerSecond = nil
	f.Divide(slots, at.Add(time.Minute), at.Add(2*time.Minute))
	require.Equal(t, []timer.ForecastStep{{At: at.Add(time.Minute), Due: 300, DispatchItems: 360}}, f.Steps, "without a limit nothing is late")
}

// A tenth of the limit is left for timers, however fast the dispatch.
func TestForecastWithADispatchThatTakesAll(t *testing.T) {
	t.Parallel()
	rate, at := 10.0, timer.At(noon)
	view := timer.DispatchView{Status: timer.DispatchRunning, PerSecond: 100, Items: ptr(640), Done: 90, Failed: 10}
	sent := view.Ahead(at, at.Add(time.Hour), rate)
	require.Equal(t, at.Add(time.Minute), sent[0].To, "540 items, 9 in a second")
	slots := minutes(60, 60, 61)
	for i := range slots {
		slots[i].Share(sent[0])
	}
	f := timer.Forecast{CountedAt: at, Step: timer.Duration(time.Minute), CallbacksPerSecond: &rate}
	f.Divide(slots, at, at.Add(3*time.Minute))
	require.Equal(t, []timer.ForecastStep{{At: at, Due: 60, DispatchItems: 540}, {At: at.Add(time.Minute), Due: 60}, {At: at.Add(2 * time.Minute), Due: 61}}, f.Steps)
	held := 0.0
	f.CallbacksPerSecond, f.Overdue = &held, 7
	f.Divide(slots, at, at.Add(time.Minute))
	require.Equal(t, []timer.ForecastStep{{At: at, Due: 60}}, f.Steps, "what is held back sends nothing")
}

func TestWhatDispatchesSendAhead(t *testing.T) {
	t.Parallel()
	at := timer.At(noon)
	hourly := &timer.Recurrence{Every: ptr(timer.Duration(time.Hour))}
	last := &timer.DispatchEnd{Done: 100, Failed: 20}
	memo := timer.DispatchMemo{DueAt: at.Add(time.Hour), Cursor: timer.Cursor{Booked: at}}
	until := func(view timer.DispatchView) (ends []time.Duration) {
		view.PerSecond, view.Memo = 2, memo
		for _, sent := range view.Ahead(at, at.Add(3*time.Hour), 0) {
			ends = append(ends, sent.To.Time().Sub(noon))
		}
		return ends
	}
	for name, c := range map[string]struct {
		view timer.DispatchView
		want []time.Duration
	}{
		"it warms up":              {timer.DispatchView{Status: timer.DispatchScheduled, Items: ptr(120), WarmUp: timer.Duration(20 * time.Second)}, []time.Duration{time.Hour + 70*time.Second}},
		"of unknown size":          {timer.DispatchView{Status: timer.DispatchScheduled}, nil},
		"running, of unknown size": {timer.DispatchView{Status: timer.DispatchRunning}, []time.Duration{time.Hour}},
		"paused":                   {timer.DispatchView{Status: timer.DispatchPaused, Items: ptr(120)}, nil},
		"uploading":                {timer.DispatchView{Status: timer.DispatchUploading, Items: ptr(120)}, nil},
		"of the size of the last":  {timer.DispatchView{Status: timer.DispatchScheduled, Last: last, DueAt: memo.DueAt}, []time.Duration{time.Hour + time.Minute}},
		"each hour":                {timer.DispatchView{Status: timer.DispatchScheduled, Last: last, DueAt: memo.DueAt, Recurrence: hourly}, []time.Duration{time.Hour + time.Minute, 2*time.Hour + time.Minute}},
	} {
		require.Equal(t, c.want, until(c.view), name)
	}
	require.Empty(t, until(timer.DispatchView{Status: timer.DispatchDone, Items: ptr(120)}))
	quick := timer.DispatchView{Status: timer.DispatchRunning, PerSecond: 1000, Items: ptr(90)}
	slot := minutes(0)[0]
	slot.Share(quick.Ahead(at, at.Add(time.Hour), 10)[0])
	require.InDelta(t, 1.5, slot.Items, 1e-9, "10 s at 9 in a second, and none for the rest of the minute")
}
