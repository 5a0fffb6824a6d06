package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

func schedule(t *testing.T, rule calendar.Rule) *calendar.Schedule {
	t.Helper()
	s, err := rule.Schedule()
	require.NoError(t, err)
	return s
}

// between lists the rings of a rule in a stretch of time, in its own zone.
func between(t *testing.T, rule calendar.Rule, from, to string) (clock []string) {
	t.Helper()
	zone, err := time.LoadLocation(rule.Timezone)
	require.NoError(t, err)
	rule.From, rule.To = moment(t, from), moment(t, to)
	for _, at := range schedule(t, rule).Upcoming(1000) {
		clock = append(clock, at.In(zone).Format("02 15:04 -0700"))
	}
	return clock
}

// The nights of 2027 in which the clocks change. A rule of times of day rings once for each:
// after a skip at its end, in a repeated hour the first time. A rule with a star for the hours
// follows the clock.
func TestClocksChange(t *testing.T) {
	t.Parallel()
	const (
		berlin, newYork, lordHowe = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
	)
	for _, c := range []struct {
		zone, cron, from, to string
		want                 []string
	}{
		// Berlin, 28 March: 02:00 to 03:00 is skipped.
		{berlin, "30 2 * * *", "2027-03-27T00:00:00Z", "2027-03-29T12:00:00Z", []string{"27 02:30 +0100", "28 03:00 +0200", "29 02:30 +0200"}},
		{berlin, "*/15 2 * * *", "2027-03-28T00:00:00Z", "2027-03-28T12:00:00Z", []string{"28 03:00 +0200"}},
		{berlin, "0,30 1-3 * * *", "2027-03-27T23:00:00Z", "2027-03-28T12:00:00Z", []string{"28 01:00 +0100", "28 01:30 +0100", "28 03:00 +0200", "28 03:30 +0200"}},
		{berlin, "0 3 * * *", "2027-03-27T23:00:00Z", "2027-03-28T12:00:00Z", []string{"28 03:00 +0200"}},
		{berlin, "*/30 * * * *", "2027-03-28T00:15:00Z", "2027-03-28T02:00:00Z", []string{"28 01:30 +0100", "28 03:00 +0200", "28 03:30 +0200", "28 04:00 +0200"}},
		{berlin, "30 * * * *", "2027-03-27T23:59:00Z", "2027-03-28T02:00:00Z", []string{"28 01:30 +0100", "28 03:30 +0200"}},
		{berlin, "0 */2 * * *", "2027-03-27T22:59:00Z", "2027-03-28T04:30:00Z", []string{"28 00:00 +0100", "28 04:00 +0200", "28 06:00 +0200"}},
		// Berlin, 31 October: 02:00 to 03:00 is repeated.
		{berlin, "30 2 * * *", "2027-10-30T00:00:00Z", "2027-11-01T12:00:00Z", []string{"30 02:30 +0200", "31 02:30 +0200", "01 02:30 +0100"}},
		{berlin, "0 2,3 * * *", "2027-10-30T22:00:00Z", "2027-10-31T12:00:00Z", []string{"31 02:00 +0200", "31 03:00 +0100"}},
		{berlin, "*/30 * * * *", "2027-10-30T23:45:00Z", "2027-10-31T02:00:00Z", []string{"31 02:00 +0200", "31 02:30 +0200", "31 02:00 +0100", "31 02:30 +0100", "31 03:00 +0100"}},
		// Booked within the second pass: the first is over.
		{berlin, "45 2 * * *", "2027-10-31T01:10:00Z", "2027-11-01T12:00:00Z", []string{"01 02:45 +0100"}},
		// New York, 14 March and 7 November.
		{newYork, "30 2 * * *", "2027-03-13T00:00:00Z", "2027-03-15T12:00:00Z", []string{"13 02:30 -0500", "14 03:00 -0400", "15 02:30 -0400"}},
		{newYork, "15 * * * *", "2027-03-14T06:00:00Z", "2027-03-14T08:00:00Z", []string{"14 01:15 -0500", "14 03:15 -0400"}},
		{newYork, "30 1 * * *", "2027-11-06T00:00:00Z", "2027-11-08T12:00:00Z", []string{"06 01:30 -0400", "07 01:30 -0400", "08 01:30 -0500"}},
		{newYork, "30 * * * *", "2027-11-07T05:00:00Z", "2027-11-07T07:00:00Z", []string{"07 01:30 -0400", "07 01:30 -0500"}},
		// Lord Howe: half an hour, 02:00 to 01:30 on 4 April, 02:00 to 02:30 on 3 October.
		{lordHowe, "45 1 * * *", "2027-04-03T00:00:00Z", "2027-04-05T00:00:00Z", []string{"04 01:45 +1100", "05 01:45 +1030"}},
		{lordHowe, "*/15 * * * *", "2027-04-03T14:25:00Z", "2027-04-03T15:30:00Z", []string{"04 01:30 +1100", "04 01:45 +1100", "04 01:30 +1030", "04 01:45 +1030", "04 02:00 +1030"}},
		{lordHowe, "15 2 * * *", "2027-10-02T00:00:00Z", "2027-10-03T23:00:00Z", []string{"03 02:30 +1100", "04 02:15 +1100"}},
		{lordHowe, "*/15 * * * *", "2027-10-02T15:10:00Z", "2027-10-02T15:50:00Z", []string{"03 01:45 +1030", "03 02:30 +1100", "03 02:45 +1100"}},
	} {
		require.Equal(t, c.want, between(t, calendar.Rule{Crons: []string{c.cron}, Timezone: c.zone}, c.from, c.to), "%s in %s", c.cron, c.zone)
	}
}

// On the last day of a leap year Go returns an end of the zone's span that has passed
// (golang/go#81583), from 2040 on in zones such as these.
func TestLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"} {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for _, hour := range []string{"*", "0-23"} {
			last := time.Date(2040, 12, 30, 22, 0, 0, 0, location).UTC()
			rule := calendar.Rule{Crons: []string{"0 " + hour + " * * *"}, Timezone: zone, From: last.Add(time.Millisecond)}
			for _, at := range schedule(t, rule).Upcoming(50) {
				require.Equal(t, last.Add(time.Hour), at, "%s in %s", hour, zone)
				last = at
			}
		}
		newYear := calendar.Rule{Crons: []string{"0 9 1 1 *"}, Timezone: zone}
		next, ok := schedule(t, newYear).Next(time.Date(2040, 12, 31, 12, 0, 0, 0, location))
		require.True(t, ok)
		require.Equal(t, time.Date(2041, 1, 1, 9, 0, 0, 0, location).UTC(), next)
	}
}
