package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

func TestRules(t *testing.T) {
	t.Parallel()
	const minute, hour = time.Minute, time.Hour
	for want, rule := range map[string]calendar.Rule{
		"":                                    {},
		"21T12:00:00 21T13:30:00":             {Every: 90 * minute, Anchor: noon, To: noon.Add(2 * hour)},
		"21T12:30:00 21T14:00:00":             {Every: 90 * minute, Anchor: noon.Add(-hour), To: noon.Add(2 * hour)},
		"21T12:10:00 21T13:40:00":             {Every: 90 * minute, Anchor: noon.Add(10 * minute), To: noon.Add(2 * hour)},
		"21T12:00:01.5 21T12:00:03":           {Every: 1500 * time.Millisecond, Anchor: noon.Add(1500 * time.Millisecond), To: noon.Add(4 * time.Second)},
		"21T15:00:00 21T15:20:00":             {Every: 20 * minute, Anchor: noon, Exclude: []string{"* 12-14 * * *"}, To: noon.Add(3*hour + 30*minute)},
		"21T12:30:00 21T13:00:00":             {Crons: []string{"0 13 * * *", "30 12 * * *", "30 12 21 * *"}, To: noon.Add(2 * hour)},
		"21T12:00:00 21T12:00:30":             {Crons: []string{"*/30 * * * * *"}, Form: calendar.Form{Seconds: true}, To: noon.Add(59 * time.Second)},
		"22T23:00:00":                         {Crons: []string{"0 0 * * *"}, Timezone: "Europe/Berlin", Exclude: []string{"2026-11-22"}, To: noon.Add(48 * hour)},
		"23T09:00:00 25T09:00:00":             {Crons: []string{"0 9 * * *"}, Exclude: []string{"* * * * SUN", "2026-11-24"}, To: noon.Add(96 * hour)},
		"21T12:00:00 21T12:00:30 21T12:02:00": {Crons: []string{"*/30 * * * * *"}, Form: calendar.Form{Seconds: true}, Exclude: []string{"1 * * * *"}, To: noon.Add(2 * minute)},
	} {
		rule.From = noon
		var got []string
		for _, at := range schedule(t, rule).Upcoming(5) {
			got = append(got, at.Format("02T15:04:05.999"))
		}
		require.Equal(t, want, strings.Join(got, " "), "%+v", rule)
	}
}

// A rule without bounds begins in 1970, and ends with the year 9999.
func TestBounds(t *testing.T) {
	t.Parallel()
	daily := schedule(t, calendar.Rule{Crons: []string{"0 0 * * *"}})
	first, ok := daily.Next(time.Time{})
	require.True(t, ok)
	require.Equal(t, time.Unix(0, 0).UTC(), first)
	last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	at, ok := daily.Next(last.Add(-time.Nanosecond))
	require.True(t, ok)
	require.Equal(t, last, at)
	for _, rule := range []calendar.Rule{{Crons: []string{"0 0 * * *"}}, {Every: 24 * time.Hour}} {
		_, ok = schedule(t, rule).Next(last.Add(time.Nanosecond))
		require.False(t, ok)
	}
}

func TestRefusedRules(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]calendar.Rule{
		"IANA":          {Every: time.Hour, Timezone: "Mars/Olympus"},
		"time zone":     {Every: time.Hour, Timezone: "Local"},
		"such as 2027":  {Every: time.Hour, Exclude: []string{"2027-02-29"}},
		"five fields":   {Every: time.Hour, Exclude: []string{"soon"}},
		"hour field":    {Crons: []string{"0 24 * * *"}},
		"six fields":    {Crons: []string{"* * * * *"}, Form: calendar.Form{Seconds: true}},
		"at most 256":   {Crons: []string{strings.Repeat("0,", 128) + "0 * * * *"}},
		"at least 1ms":  {Every: time.Microsecond},
		"at least 1ms ": {Every: -time.Hour},
	} {
		_, err := rule.Schedule()
		require.ErrorContains(t, err, strings.TrimSpace(want))
	}
	require.ErrorContains(t, calendar.CheckCron("0 0 30 2 *", calendar.Form{}), "never rings")
	_, ok := schedule(t, calendar.Rule{Crons: []string{"0 0 30 2 *"}}).Next(noon)
	require.False(t, ok)
	require.NoError(t, calendar.CheckCron("0 0 0 29 2 */7", calendar.Form{Seconds: true}))
	require.NoError(t, calendar.CheckTimezone(""))
	require.Error(t, calendar.CheckTimezone("../etc/passwd"))
	require.NoError(t, calendar.CheckExclusion("2028-02-29"))
	require.Error(t, calendar.CheckExclusion("* * * * * *"))
}

func TestPassed(t *testing.T) {
	t.Parallel()
	for _, rule := range []calendar.Rule{{Every: time.Hour, Anchor: noon}, {Crons: []string{"0 * * * *"}}} {
		rule.From = noon.Add(time.Millisecond)
		for _, c := range []struct {
			after        time.Duration
			keep         int
			oldest, want int // hours after noon, and how many
		}{
			{time.Hour - time.Millisecond, 1, 0, 0},
			{time.Hour, 1, 1, 1},
			{5 * time.Hour, 1, 5, 5},
			{5*time.Hour + 59*time.Minute, 1, 5, 5},
			{5 * time.Hour, 5, 1, 5},
			{5 * time.Hour, 4, 2, 5},
			{1000 * time.Hour, 100, 901, 1000},
		} {
			oldest, count := schedule(t, rule).Passed(noon.Add(c.after), c.keep)
			require.Equal(t, c.want, count, "after %s", c.after)
			if c.want == 0 {
				require.Zero(t, oldest)
				continue
			}
			require.Equal(t, noon.Add(time.Duration(c.oldest)*time.Hour), oldest, "after %s, %d kept", c.after, c.keep)
		}
	}
	_, count := schedule(t, calendar.Rule{Every: time.Second, Anchor: noon, From: noon}).Passed(noon.Add(240*time.Hour), 1)
	require.Equal(t, calendar.MaxCounted, count)
}

func TestShortestGap(t *testing.T) {
	t.Parallel()
	const decade = 10 * 365 * 24 * time.Hour
	for want, rules := range map[time.Duration][]calendar.Rule{
		0: {{Crons: []string{"x"}}, {Crons: []string{"* * * * *"}, Timezone: "x"}},
		time.Second: {
			{Crons: []string{"* * * * * *"}, Form: calendar.Form{Seconds: true}},
			{Crons: []string{"*/30 * * * * *", "1 0 0 1 1 *"}, Form: calendar.Form{Seconds: true}},
		},
		time.Minute: {
			{Crons: []string{"* * * * *"}},
			{Crons: []string{"*/2 * * * *", "1 12 24 12 *"}},
			{Crons: []string{"59 23 * * *", "0 0 * * *"}, Timezone: "Asia/Tokyo"},
		},
		90 * time.Second:              {{Every: 90 * time.Second}},
		5 * time.Minute:               {{Crons: []string{"0 0 * * *", "5 0 1 1 *"}}},
		7 * time.Minute:               {{Crons: []string{"0,7 3 * * *"}}},
		9 * time.Minute:               {{Crons: []string{"*/17 * * * *"}}},
		15 * time.Minute:              {{Crons: []string{"45 1,2 * * *"}, Timezone: "Europe/Berlin"}}, // 01:45, and 03:00 in place of 02:45
		23 * time.Hour:                {{Crons: []string{"0 0 * * *"}, Timezone: "Europe/Berlin"}},
		23*time.Hour + 30*time.Minute: {{Crons: []string{"0 12 * * *"}, Timezone: "Australia/Lord_Howe"}},
		24 * time.Hour: {
			{Crons: []string{"0 0 * * *"}},
			{Crons: []string{"0 0 * * MON-FRI"}, Timezone: "Australia/Lord_Howe"},
		},
		25 * time.Hour:       {{Crons: []string{"0 9 * * MON", "0 10 * * TUE"}, Exclude: []string{"x", "y"}}},
		28 * 24 * time.Hour:  {{Crons: []string{"0 0 1 * *"}}},
		365 * 24 * time.Hour: {{Crons: []string{"0 0 1 1 *"}}},
		decade:               {{Crons: []string{"0 0 29 2 */7"}}, {}},
	} {
		for _, rule := range rules {
			require.Equal(t, want, rule.ShortestGap(decade), "%+v", rule)
		}
	}
}

// The times of day are marked, and that finds the gap that a walk through a day finds.
func TestTheGapOfADay(t *testing.T) {
	t.Parallel()
	for want, crons := range map[time.Duration][]string{
		24 * time.Hour: {"0 0 0 * * *"}, time.Second: {"* * * * * *"}, 2 * time.Second: {"*/2 * * * * *", "4-58/2 * * * * *"},
		3 * time.Second: {"*/30 * * * * *", "27 59 23 1 1 *"}, time.Minute: {"0 59 23 * * *", "0 0 0 * * *"}, 3 * time.Hour: {"0 0 1,8,22 * * *"},
	} {
		marked, walked := calendar.GapOfDay(calendar.Rule{Crons: crons, Form: calendar.Form{Seconds: true}})
		require.Equal(t, want, marked, crons)
		require.Equal(t, want, walked, crons)
	}
}

// A booking pays for the search, and a thousand of a batch pay at once. It is bounded for ten expressions
// that ring every other second, of which a day has 43,200 moments.
func TestTheSearchForTheShortestGapIsBounded(t *testing.T) {
	t.Parallel()
	rule := calendar.Rule{Form: calendar.Form{Seconds: true}}
	for i := range 10 {
		rule.Crons = append(rule.Crons, fmt.Sprintf("%d-58/2 * * * * *", 2*i))
	}
	require.Less(t, calendar.GapSteps(rule, 10*365*24*time.Hour), 50_000)
	require.Equal(t, 2*time.Second, rule.ShortestGap(10*365*24*time.Hour))
}
