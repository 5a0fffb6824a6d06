package recurrence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// The next occurrence has never rung before, and a made-up one has passed.
func FuzzNext(f *testing.F) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}
	f.Add("0 * * * *", uint8(0), int64(3_600_000), int64(86_400_000), uint8(1))
	f.Add("*/5 2 * * *", uint8(3), int64(0), int64(1<<40), uint8(2))
	f.Fuzz(func(t *testing.T, text string, zone uint8, last, away int64, missed uint8) {
		c := recurrence.Cursor{Booked: wire.At(noon)}
		c.Last = c.Booked + wire.Instant(last)
		now := c.Last + wire.Instant(away)
		if last < 0 || last > 1<<40 || away < 0 || away > 1<<40 {
			return
		}
		ways := []recurrence.Missed{recurrence.MissedFireOnce, recurrence.MissedSkip, recurrence.MissedFireAll}
		r := recurrence.Rule{Cron: &text, Timezone: zones[int(zone)%len(zones)], Missed: ways[int(missed)%len(ways)]}
		o, ok := r.Next(c, now)
		if !ok {
			return
		}
		require.Greater(t, o.Nominal, c.Last)
		if o.Skipped > 0 && r.Missed != recurrence.MissedSkip {
			require.LessOrEqual(t, o.Nominal, now)
		}
		again, ok := r.Next(c.Past(o, now), now)
		require.True(t, !ok || again.Nominal > o.Nominal)
		require.True(t, !ok || r.Missed == recurrence.MissedFireAll || again.Nominal > now)
	})
}
