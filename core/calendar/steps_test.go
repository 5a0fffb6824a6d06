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

// A fixed rate goes on after any number of excluded moments: a month, and half a century without one.
func TestAGridGoesOnAfterManyExcludedMoments(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)
	for zone, want := range map[string]string{"": "2027-12-01T00:00:00Z", "Europe/Berlin": "2027-11-30T23:00:00Z"} {
		rule := calendar.Rule{Every: 2 * time.Minute, Anchor: from, From: from, Timezone: zone, Exclude: []string{"*/2 * * 1-11 *"}}
		found := schedule(t, rule).Upcoming(2)
		require.Len(t, found, 2, zone)
		require.Equal(t, want, found[0].Format(time.RFC3339), zone)
		require.Equal(t, 2*time.Minute, found[1].Sub(found[0]), zone)
		rule.Exclude = []string{"*/2 * * * *"}
		require.Empty(t, schedule(t, rule).Upcoming(1), zone)
	}
}

// The days that a grid is known to miss are left out, and no moment with them.
func TestAGridMissesNoMoment(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, time.February, 25, 7, 11, 0, 0, time.UTC)
	to := from.AddDate(0, 9, 10) // over two changes of the clock
	for exclude, excluded := range map[string]func(time.Time) bool{
		"*/2 * * 1-11 *":      func(at time.Time) bool { return at.Minute()%2 == 0 && at.Month() < time.December },
		"0-57 * * * *":        func(at time.Time) bool { return at.Minute() < 58 },
		"10-59 * * * MON-SAT": func(at time.Time) bool { return at.Minute() >= 10 && at.Weekday() != time.Sunday },
		"* 3-23 2-31 * *":     func(at time.Time) bool { return at.Hour() >= 3 && at.Day() > 1 },
		"* 0-1,4-23 * 3,10,2 *": func(at time.Time) bool {
			return (at.Hour() < 2 || at.Hour() > 3) && (at.Month() == 3 || at.Month() == 10 || at.Month() == 2)
		},
	} {
		for _, step := range []time.Duration{121 * time.Second, 7 * time.Minute, 90 * time.Minute, 7 * time.Hour, 24 * time.Hour} {
			for _, zone := range []string{"Europe/Berlin", "Australia/Lord_Howe"} {
				place, err := time.LoadLocation(zone)
				require.NoError(t, err)
				rule := calendar.Rule{Every: step, Anchor: from, From: from, To: to, Timezone: zone, Exclude: []string{exclude}}
				at := schedule(t, rule).Upcoming(1_000_000)
				for next := from; !next.After(to); next = next.Add(step) {
					if excluded(next.In(place)) {
						continue
					}
					require.NotEmpty(t, at, "%s %s %s", step, exclude, zone)
					require.True(t, next.Equal(at[0]), "%s %s %s: %s, not %s", step, exclude, zone, next, at[0])
					at = at[1:]
				}
				require.Empty(t, at, "%s %s %s", step, exclude, zone)
			}
		}
	}
}
