package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

// No expression panics, none makes a search run to its bound, and rings are in order.
func FuzzCron(f *testing.F) {
	for _, text := range []string{
		"30 9 * * MON-FRI", "0 0 30 2 *", "0 0 29 2 */7", "TZ=", "CRON_TZ=UTC", "@every 1s", "@daily", "*/7 22-2 * NOV-FEB 5-1",
		"0,,1 * * * *", "59 59 23 31 12 7", "* * * * * *", "0 2 * * 0",
		"0 0 12 ? * 6#3", "0 15 10 L-3W * ? *", "0 0 15W,L * ?", "0 0 * * FRIL,MON#1",
	} {
		f.Add(text, false, uint8(1), int64(1_800_000_000_000))
		f.Add(text, true, uint8(3), int64(2_240_600_000_000)) // 2040-12-31
	}
	f.Fuzz(func(t *testing.T, text string, seconds bool, zone uint8, from int64) {
		if from <= 0 || from > 250_000_000_000_000 {
			return
		}
		rule := calendar.Rule{Crons: []string{text}, Form: calendar.Form{Seconds: seconds}, Timezone: zones[int(zone)%len(zones)], From: time.UnixMilli(from)}
		location, err := time.LoadLocation(rule.Timezone)
		require.NoError(t, err)
		steps, read := calendar.StepsOf(text, calendar.Form{Seconds: seconds}, location, rule.From)
		if !read {
			_, err := rule.Schedule()
			require.Error(t, err)
			return
		}
		require.Less(t, steps, calendar.SearchSteps)
		last := rule.From.Add(-time.Millisecond)
		for _, at := range schedule(t, rule).Upcoming(20) {
			require.True(t, at.After(last))
			last = at
		}
		if calendar.CheckCron(text, calendar.Form{Seconds: seconds}) == nil {
			require.GreaterOrEqual(t, rule.ShortestGap(10*365*24*time.Hour), time.Second)
		}
	})
}
