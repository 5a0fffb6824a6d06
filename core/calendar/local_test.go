package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

const wallForm = "2006-01-02T15:04:05.999"

func TestLocal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wall, zone, at string }{
		"winter":                            {"2027-01-31T09:00:00", "Europe/Berlin", "2027-01-31T08:00:00Z"},
		"summer":                            {"2027-07-31T09:00:00.25", "Europe/Berlin", "2027-07-31T07:00:00.25Z"},
		"no zone is UTC":                    {"2027-01-31T09:00:00", "", "2027-01-31T09:00:00Z"},
		"far east":                          {"2027-01-31T09:00:00", "Pacific/Kiritimati", "2027-01-30T19:00:00Z"},
		"far west":                          {"2027-01-31T09:00:00", "Pacific/Niue", "2027-01-31T20:00:00Z"},
		"a time that is left out":           {"2027-03-28T02:30:00.5", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		"the moment at which it lands":      {"2027-03-28T03:00:00", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		"a time that comes twice":           {"2027-10-31T02:30:00", "Europe/Berlin", "2027-10-31T00:30:00Z"},
		"after it came twice":               {"2027-10-31T03:00:00", "Europe/Berlin", "2027-10-31T02:00:00Z"},
		"New York, left out":                {"2027-03-14T02:30:00", "America/New_York", "2027-03-14T07:00:00Z"},
		"half an hour":                      {"2027-10-03T02:15:00", "Australia/Lord_Howe", "2027-10-02T15:30:00Z"},
		"a day that Samoa left out":         {"2011-12-30T12:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},
		"the last day of a leap year":       {"2028-12-31T23:59:59", "Europe/Berlin", "2028-12-31T22:59:59Z"},
		"a zone whose clocks do not change": {"2027-06-01T00:00:00", "Asia/Tokyo", "2027-05-31T15:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wall, err := time.Parse(wallForm, c.wall)
			require.NoError(t, err)
			at, err := calendar.Local(wall, c.zone)
			require.NoError(t, err)
			require.Equal(t, c.at, at.Format(time.RFC3339Nano))
		})
	}
	_, err := calendar.Local(time.Unix(0, 0), "Local")
	require.Error(t, err)
	require.Equal(t, calendar.CheckTimezone("Local"), err)
}

// A rule with the same time of the day rings at the same moment.
func TestLocalIsWhatARuleRings(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata"} {
		day := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		rule := calendar.Rule{Crons: []string{"30 2 * * *"}, Timezone: zone, From: day.Add(-24 * time.Hour)}
		schedule, err := rule.Schedule()
		require.NoError(t, err)
		for range 366 {
			at, err := calendar.Local(day.Add(150*time.Minute), zone)
			require.NoError(t, err)
			ring, ok := schedule.Next(at)
			require.True(t, ok)
			require.Equal(t, at, ring, "%s on %s", zone, day)
			day = day.AddDate(0, 0, 1)
		}
	}
}
