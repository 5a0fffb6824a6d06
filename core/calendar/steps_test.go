package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

// A schedule without steps returns the moments found before, but none that an unsearched
// expression could precede.
func TestAScheduleKeepsToItsSteps(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]calendar.Rule{
		"expressions": {Crons: []string{"0 0 29 2 *", "0 12 * * *", "7 * * * *"}, Exclude: []string{"* * * 3-12 *", "* 1-23 * * *"}},
		"grid":        {Every: time.Hour, Anchor: noon, Exclude: []string{"* * * 3-12 *", "* 1-23 * * *"}},
	} {
		rule.From = noon
		whole := schedule(t, rule).Upcoming(100)
		require.Len(t, whole, 100, name)
		for _, steps := range []int{1, 10, 100, 1000, 10_000} {
			rule.Steps = steps
			found := schedule(t, rule).Upcoming(100)
			require.Less(t, len(found), steps+1, name)
			for i, at := range found {
				require.Equal(t, whole[i], at, name)
			}
		}
		rule.Steps = 1_000_000
		require.Len(t, schedule(t, rule).Upcoming(100), 100, name)
	}
}
