package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

func TestMoments(t *testing.T) {
	t.Parallel()
	at := func(day, hour int) time.Time { return time.Date(2027, 1, day, hour, 0, 0, 0, time.UTC) }
	rule := calendar.Rule{Moments: []time.Time{at(8, 9), at(1, 9), at(7, 9), at(1, 9), at(8, 10)}}
	rings := func(rule calendar.Rule) []time.Time {
		t.Helper()
		schedule, err := rule.Schedule()
		require.NoError(t, err)
		return schedule.Upcoming(10)
	}
	require.Equal(t, []time.Time{at(1, 9), at(7, 9), at(8, 9), at(8, 10)}, rings(rule), "in order, and each once")
	require.Equal(t, time.Hour, rule.ShortestGap(1000*time.Hour))
	require.Equal(t, 30*time.Minute, rule.ShortestGap(30*time.Minute))
	rule.From, rule.To = at(2, 0), at(8, 9)
	require.Equal(t, []time.Time{at(7, 9), at(8, 9)}, rings(rule))
	rule.Exclude = []string{"2027-01-07"}
	require.Equal(t, []time.Time{at(8, 9)}, rings(rule))
	rule.Timezone, rule.Exclude = "Asia/Tokyo", []string{"0 18 8 * *"}
	require.Equal(t, []time.Time{at(7, 9)}, rings(rule), "what is excluded is read in the zone")

	one := calendar.Rule{Moments: []time.Time{at(1, 9)}}
	require.Equal(t, time.Hour, one.ShortestGap(time.Hour))
	schedule, err := one.Schedule()
	require.NoError(t, err)
	_, ok := schedule.Next(at(1, 10))
	require.False(t, ok)
}
