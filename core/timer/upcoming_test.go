package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// If no time is upcoming, the answer says why.
func TestWhyNothingIsUpcoming(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	every, once := wire.Duration(time.Hour), 1
	view := func(change func(*timer.View)) timer.View {
		spec, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", now)
		require.NoError(t, err)
		v := timer.View{Key: spec.Key, Memo: spec.Memo, Status: timer.Scheduled}
		change(&v)
		return v
	}
	for want, v := range map[timer.EmptyReason]timer.View{
		"":                  view(func(*timer.View) {}),
		timer.EmptyPaused:   view(func(v *timer.View) { v.Memo.Series.Paused, v.Note = true, "closed" }),
		timer.EmptyStopped:  view(func(v *timer.View) { v.Memo.Series.Stopped, v.Memo.Series.Paused = true, true }),
		timer.EmptyFinished: view(func(v *timer.View) { v.Status, v.Memo.Series.Paused = timer.Cancelled, true }),
		timer.EmptyNoMore:   view(func(v *timer.View) { v.Memo.Series.Rule.MaxOccurrences, v.Memo.Series.Cursor.Rung = &once, 1 }),
	} {
		got := v.Upcoming(3, now)
		require.Equal(t, want, got.EmptyBecause)
		require.NotNil(t, got.Times, "a list of nothing is a list")
		require.Equal(t, want == "", len(got.Times) == 3)
		require.Equal(t, want == timer.EmptyPaused, got.Note == "closed")
	}
	require.Equal(t, timer.EmptyNoMore, timer.UpcomingOf(recurrence.Rule{Every: &every, EndAt: wire.Instant(1)}, wire.At(now), 3).EmptyBecause)
	require.Len(t, timer.UpcomingOf(recurrence.Rule{Every: &every}, wire.At(now), 3).Times, 3)
}

// A redelivered timer without expiry expires again only if a change sets it.
func TestATimerThatNeverExpires(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	hour := wire.Duration(time.Hour)
	spec, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Delay: &hour}, "b", now)
	require.NoError(t, err)
	spec.NeverExpires = true
	require.Zero(t, spec.Latest(hour), "no default of the policy holds")
	priority := 3
	same, err := spec.Apply(timer.Change{Terms: timer.Terms{Priority: &priority}, At: wire.At(now)})
	require.NoError(t, err)
	require.Zero(t, same.Latest(hour))
	latest := wire.At(now.Add(3 * time.Hour))
	for want, change := range map[wire.Instant]timer.Change{
		latest:                    {Terms: timer.Terms{LatestAt: &latest}},
		spec.DueAt.Add(time.Hour): {Terms: timer.Terms{ExpiresAfter: &hour}},
		wire.At(now.Add(2 * time.Hour)).Add(time.Hour / 2): {Replace: true, Terms: timer.Terms{Delay: ptr(wire.Duration(90 * time.Minute))}},
	} {
		change.At = wire.At(now)
		changed, err := spec.Apply(change)
		require.NoError(t, err)
		require.Equal(t, want, changed.Latest(hour))
	}
}
