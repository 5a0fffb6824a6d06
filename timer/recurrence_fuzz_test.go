package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// No expression panics, none makes a search run to its bound, and what rings is
// in order.
func FuzzCron(f *testing.F) {
	for _, text := range []string{
		"30 9 * * MON-FRI", "0 0 30 2 *", "0 0 29 2 */7", "TZ=", "CRON_TZ=UTC", "@every 1s", "@daily", "*/7 22-2 * NOV-FEB 5-1",
		"0,,1 * * * *", "59 59 23 31 12 7", "* * * * * *", "0 2 * * 0",
	} {
		f.Add(text, false, uint8(1), int64(1_800_000_000_000))
		f.Add(text, true, uint8(3), int64(2_240_600_000_000)) // 2040-12-31
	}
	f.Fuzz(func(t *testing.T, text string, seconds bool, zone uint8, from int64) {
		if from <= 0 || from > 250_000_000_000_000 {
			return
		}
		name, booked := zones[int(zone)%len(zones)], timer.Instant(from)
		location, err := time.LoadLocation(name)
		require.NoError(t, err)
		steps, read := timer.StepsOf(text, seconds, location, booked)
		if !read {
			return
		}
		require.Less(t, steps, timer.SearchSteps)
		r := timer.Recurrence{Cron: &text, Seconds: seconds, Timezone: name}
		last := booked - 1
		for _, at := range r.Upcoming(timer.Cursor{Booked: booked}, 20) {
			require.Greater(t, at, last)
			last = at
		}
		if len(r.Check(booked.Time())) == 0 {
			require.GreaterOrEqual(t, r.MinInterval(), timer.MinInterval)
		}
	})
}

// Whatever happened meanwhile, what rings next was not rung before, and what is
// made up for has passed.
func FuzzNext(f *testing.F) {
	f.Add("0 * * * *", uint8(0), int64(3_600_000), int64(86_400_000), uint8(1))
	f.Add("*/5 2 * * *", uint8(3), int64(0), int64(1<<40), uint8(2))
	f.Fuzz(func(t *testing.T, text string, zone uint8, last, away int64, missed uint8) {
		c := timer.Cursor{Booked: timer.At(noon)}
		c.Last = c.Booked + timer.Instant(last)
		now := c.Last + timer.Instant(away)
		if last < 0 || last > 1<<40 || away < 0 || away > 1<<40 {
			return
		}
		ways := []timer.Missed{timer.MissedFireOnce, timer.MissedSkip, timer.MissedFireAll}
		r := timer.Recurrence{Cron: &text, Timezone: zones[int(zone)%len(zones)], Missed: ways[int(missed)%len(ways)]}
		o, ok := r.Next(c, now)
		if !ok {
			return
		}
		require.Greater(t, o.Nominal, c.Last)
		if o.Skipped > 0 && r.Missed != timer.MissedSkip {
			require.LessOrEqual(t, o.Nominal, now)
		}
		again, ok := r.Next(c.Past(o, now), now)
		require.True(t, !ok || again.Nominal > o.Nominal)
		require.True(t, !ok || r.Missed == timer.MissedFireAll || again.Nominal > now)
	})
}
