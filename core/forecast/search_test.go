package forecast_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// leapDays returns a rule of a few kilobytes that rings on leap days only, with the most costly
// search possible.
func leapDays(last string) recurrence.Rule {
	rule := recurrence.Rule{Exclude: []string{"* * * 1 *", "* * * 3-12 *", "* * 1-28 2 *", last}}
	for range recurrence.MaxCrons {
		rule.Crons = append(rule.Crons, "0 0 * * *")
	}
	for len(rule.Exclude) < recurrence.MaxExcludes {
		rule.Exclude = append(rule.Exclude, "* * 1-28 * *")
	}
	return rule
}

// timed returns the processor time of do, which other load on the machine does not change.
func timed(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	do()
	return threadTime() - began
}

// threadTime returns the processor time of the thread so far. The package syscall has no name
// for Linux's RUSAGE_THREAD.
func threadTime() time.Duration {
	const thread = 1
	var usage syscall.Rusage
	_ = syscall.Getrusage(thread, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Each of these once took from a third of a second to a minute. The bounds are far above the
// present times, to allow for a busy machine.
func TestARareRuleIsCheap(t *testing.T) {
	t.Parallel()
	rule, cursor := leapDays("2027-01-01"), recurrence.Cursor{Booked: wire.At(noon)}
	require.Empty(t, rule.Check(noon))
	require.Less(t, timed(func() {
		times := rule.Upcoming(cursor, recurrence.MaxUpcoming)
		require.Greater(t, len(times), 100)
		require.Less(t, len(times), recurrence.MaxUpcoming, "the search has a bound")
		require.Equal(t, rule.Upcoming(cursor, 10), times[:10])
	}), 5*time.Second)

	booked, err := timer.Admit(key, timer.Terms{Recurrence: &rule}, "b", noon)
	require.NoError(t, err)
	require.Less(t, timed(func() {
		for range 10 {
			require.Empty(t, booked.NominalTimes(booked.DueAt.Add(24*time.Hour), 10_000), "nothing is looked for after the end")
		}
	}), 2*time.Second)

	never := leapDays("* * 29 * *")
	require.Less(t, timed(func() {
		for range 10 {
			require.NotEmpty(t, never.Check(noon))
		}
	}), 2*time.Second)
}

// A dispatch is searched no further ahead than the forecast goes.
func TestTheForecastOfARareDispatchIsCheap(t *testing.T) {
	t.Parallel()
	rule, items, at := leapDays("2027-01-01"), 10, wire.At(noon)
	view := dispatch.View{
		Status: dispatch.Scheduled, PerSecond: 10, Items: &items, Recurrence: &rule,
		Memo: dispatch.Memo{Cursor: recurrence.Cursor{Booked: at}, DueAt: at},
	}
	require.Less(t, timed(func() { require.Len(t, forecast.OfDispatch(view, at, at.Add(24*time.Hour), 0), 1) }), 2*time.Second)
}
