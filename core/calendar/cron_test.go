package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

// noon is a Saturday.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func cron(t *testing.T, text string) *calendar.Schedule {
	t.Helper()
	return schedule(t, calendar.Rule{Crons: []string{text}, From: noon})
}

func TestCronLanguage(t *testing.T) {
	t.Parallel()
	refused := []string{
		"60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 * ", "* * * * 8", "-1 * * * *", "+1 * * * *",
		"1, * * * *", ",1 * * * *", "1,,2 * * * *", "*/0 * * * *", "*/60 * * * *", "1-5/9 * * * *", "*-5 * * * *", "**  * * * *",
		"? * * * *", "H * * * *", "L * * * *", "* * 32W * *", "* * 0W * *", "* * L-31 * *", "* * * * 5#6", "* * * * 5#0", "* * * * L", "* * * * 8L", "* * W * *", "* * 1-5W * *", "* * ?/2 * *", "* * ?,1 * *", "* * * FOO *", "* * * * MONDAY",
		"mon * * * *", "1.5 * * * *", "1-2-3 * * * *", "*/5/5 * * * *", "a * * * *", "１ * * * *", "* * * * *\x00", "@", "@daily 5",
		"@Daily@", "5", "* * * * * * *", "* * * * MON/2-3",
	}
	for _, text := range refused {
		err := calendar.CheckCron(text, calendar.Form{})
		require.Error(t, err, "%q", text)
		require.NotContains(t, err.Error(), "strconv", "no word of Go's own")
	}
	same := map[string]string{
		"@hourly": "0 * * * *", "@DAILY": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * SUN", "@monthly": "0 0 1 * *",
		"@yearly": "0 0 1 JAN *", "@annually": "0 0 1 1 *", "0 0 * * 7": "0 0 * * 0", "0 0 * * fri-mon": "0 0 * * 5,6,0,1",
		"0 22-2 * * *": "0 22,23,0,1,2 * * *", " 0\t0  * * * ": "0 0 * * *", "5/20 * * * *": "5,25,45 * * * *", "*/20 * * * *": "0,20,40 * * * *",
		"0 0 * NOV-FEB *": "0 0 * 1,2,11,12 *", "10-20/5 0 * * *": "10,15,20 0 * * *", "0 0 * * 1-7/2": "0 0 * * MON,WED,FRI,SUN",
	}
	for one, other := range same {
		require.NoError(t, calendar.CheckCron(one, calendar.Form{}), one)
		require.Equal(t, cron(t, other).Upcoming(50), cron(t, one).Upcoming(50), one)
	}
}

// If both day fields are restricted, either is enough; if one begins with a star, both must
// match, as in Vixie cron.
func TestDaysOfMonthAndWeek(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 0 13 * FRI":   "2026-11-27 2026-12-04 2026-12-11 2026-12-13", // either
		"0 0 13 * *":     "2026-12-13 2027-01-13 2027-02-13 2027-03-13",
		"0 0 * * FRI":    "2026-11-27 2026-12-04 2026-12-11 2026-12-18",
		"0 0 */2 * FRI":  "2026-11-27 2026-12-11 2026-12-25 2027-01-01", // both: odd days
		"0 0 1-7 * */7":  "2026-12-06 2027-01-03 2027-02-07 2027-03-07", // both: first Sundays
		"0 0 31 * *":     "2026-12-31 2027-01-31 2027-03-31 2027-05-31",
		"0 0 29 2 *":     "2028-02-29 2032-02-29 2036-02-29 2040-02-29",
		"0 0 29 2 */7":   "2032-02-29 2060-02-29 2088-02-29 2128-02-29", // 2100 has none
		"0 0 28-31 2 *":  "2027-02-28 2028-02-28 2028-02-29 2029-02-28",
		"0 0 30 4,6,9 *": "2027-04-30 2027-06-30 2027-09-30 2028-04-30",
	} {
		var got []string
		for _, at := range cron(t, text).Upcoming(4) {
			got = append(got, at.Format(time.DateOnly))
		}
		require.Equal(t, strings.Fields(want), got, text)
	}
}
