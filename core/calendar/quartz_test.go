package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

var (
	quartz = calendar.Form{Dialect: calendar.Quartz}
	spring = calendar.Form{Dialect: calendar.Spring}
	plain  = calendar.Form{}
)

// Expressions from the documents of Quartz and Spring, with their rings.
func TestExpressionsOfOtherSchedulers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form       calendar.Form
		text, want string
	}{
		{plain, "0 0/30 9-17 * * ?", "21T12:00 21T12:30 21T13:00"},
		{plain, "0 0 12 ? * WED", "25T12:00 02T12:00 09T12:00"},
		{plain, "0 0 12 ? * mon-fri", "23T12:00 24T12:00 25T12:00"},
		{plain, "0 15 10 L * ?", "30T10:15 31T10:15 31T10:15"},
		{plain, "15 10 L-2 * *", "28T10:15 29T10:15 29T10:15"},
		{plain, "15 10 LW * *", "30T10:15 31T10:15 29T10:15"}, // 2027-01-31 is a Sunday
		{plain, "15 10 15W * *", "15T10:15 15T10:15 15T10:15"},
		{plain, "15 10 ? * FRIL", "27T10:15 25T10:15 29T10:15"},
		{plain, "15 10 ? * fri#3", "18T10:15 15T10:15 19T10:15"},
		{plain, "15 10 1,15,L * ?", "30T10:15 01T10:15 15T10:15"},
		{plain, "15 10 * * 5#2", "11T10:15 08T10:15 12T10:15"}, // of cron: Fridays
		{quartz, "0 15 10 ? * 6L", "27T10:15 25T10:15 29T10:15"},
		{quartz, "0 15 10 ? * 6#3", "18T10:15 15T10:15 19T10:15"},
		{quartz, "0 15 10 ? * 2-6", "23T10:15 24T10:15 25T10:15"},
		{quartz, "0 15 10 ? * 2/2", "23T10:15 25T10:15 27T10:15"},
		{quartz, "0 15 10 ? * 7-2", "22T10:15 23T10:15 28T10:15"}, // the 21st has passed 10:15
		{quartz, "0 15 10 ? * L", "28T10:15 05T10:15 12T10:15"},
		{quartz, "0 15 10 ? * *", "22T10:15 23T10:15 24T10:15"},
		{quartz, "0 15 10 L-3W * ? *", "27T10:15 28T10:15 28T10:15"},
		{quartz, "0 /15 10 * * ?", "22T10:00 22T10:15 22T10:30"},
		{quartz, "0 0 12 1/5 * ?", "21T12:00 26T12:00 01T12:00"},
		{quartz, "0 50/20 9-9/3 22/30 * ?", "22T09:50 22T09:50 22T09:50"},
		{spring, "0 0 12 ? * 5L", "27T12:00 25T12:00 29T12:00"},
		{spring, "0 0 12 * * 1-5", "23T12:00 24T12:00 25T12:00"},
		{spring, "0 0 12 13 * FRI", "13T12:00 13T12:00 13T12:00"}, // both must match
		{spring, "@daily", "22T00:00 23T00:00 24T00:00"},
	} {
		require.NoError(t, calendar.CheckCron(c.text, c.form), c.text)
		var got []string
		for _, at := range schedule(t, calendar.Rule{Crons: []string{c.text}, Form: c.form, From: noon}).Upcoming(3) {
			got = append(got, at.Format("02T15:04"))
		}
		require.Equal(t, strings.Fields(c.want), got, "%s of %q", c.text, c.form.Dialect)
	}
	both := schedule(t, calendar.Rule{Crons: []string{"0 0 12 13 * FRI"}, Form: spring, From: noon}).Upcoming(1)
	require.Equal(t, time.Friday, both[0].Weekday())
}

func TestExpressionsThatAreNoneOfTheirScheduler(t *testing.T) {
	t.Parallel()
	for form, texts := range map[calendar.Form]map[string]string{
		plain: {
			"0 0 12 ? * 4": "SUN=1", "0 0 12 ? * 2-6": "SUN=1", "0 0 12 ? * 6L": "SUN=1", "0 0 12 ? * 6#3": "SUN=1", "0 0 12 ? * MON,3": "SUN=1",
			"0 12 * * ? 2027": "month", "0 0 12 * * ? *": "has 7",
		},
		quartz: {
			"0 12 * * ?": "six fields", "0 0 12 * * *": "?", "0 0 12 ? * ?": "?", "0 0 12 1 * MON": "?", "0 0 12 ? * 0": "1-7", "0 0 12 ? * 8": "1-7",
			"0 0 12 * * ? 2027": "start_at", "0 0 12 1,L * ?": "Quartz", "0 0 12 ? * 6L,2": "Quartz", "0 0 12 ? * 2/8": "1-7", "0 0 12 ? * MON#6": "day-of-week",
		},
		spring: {"0 12 * * ?": "six fields", "0 0 12 ? * L": "day-of-week", "0 0 12 ? * 8": "day-of-week"},
	} {
		for text, want := range texts {
			err := calendar.CheckCron(text, form)
			require.ErrorContains(t, err, want, "%s of %q", text, form.Dialect)
		}
	}
}

// quartzDays returns the days of a month that match a day field of Quartz, by its documentation:
// it counts from the ends of the month, and moves from weekends.
func quartzDays(days, weekdays string, year int, month time.Month) (all []int) {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	on := func(day int) time.Weekday { return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday() }
	workday := func(day int) int {
		switch on(day) {
		case time.Saturday:
			if day == 1 {
				return 3
			}
			return day - 1
		case time.Sunday:
			if day == last {
				return day - 2
			}
			return day + 1
		default:
			return day
		}
	}
	var n, m int
	for day := 1; day <= last; day++ {
		meant := true
		number := int(on(day)) + 1
		switch {
		case days == "L":
			meant = day == last
		case days == "LW":
			meant = day == workday(last)
		case scan(days, "L-%dW", &n) && strings.HasSuffix(days, "W"):
			meant = last-n >= 1 && day == workday(last-n)
		case scan(days, "L-%d", &n):
			meant = day == last-n
		case strings.HasSuffix(days, "W") && scan(days, "%dW", &n):
			meant = n <= last && day == workday(n)
		case scan(days, "%d/%d", &n, &m):
			meant = day >= n && (day-n)%m == 0
		case scan(days, "%d", &n):
			meant = day == n
		case strings.HasSuffix(weekdays, "L") && scan(weekdays, "%dL", &n):
			meant = number == n && day+7 > last
		case scan(weekdays, "%d#%d", &n, &m):
			meant = number == n && (day-1)/7+1 == m
		case scan(weekdays, "%d-%d", &n, &m):
			meant = n <= m && number >= n && number <= m || n > m && (number >= n || number <= m)
		case scan(weekdays, "%d/%d", &n, &m):
			meant = number >= n && (number-n)%m == 0
		case scan(weekdays, "%d", &n):
			meant = number == n
		}
		if meant {
			all = append(all, day)
		}
	}
	return all
}

func scan(text, form string, into ...any) bool {
	n, _ := fmt.Sscanf(text, form, into...)
	return n == len(into)
}

func randomQuartz(r *rand.Rand) (days, weekdays string) {
	n := func(high int) int { return 1 + r.IntN(high) }
	forms := []string{
		"L", "LW", fmt.Sprintf("L-%d", n(27)), fmt.Sprintf("L-%dW", n(27)), fmt.Sprintf("%dW", n(28)), fmt.Sprintf("%d/%d", n(31), n(20)), fmt.Sprint(n(28)),
	}
	ofWeek := []string{
		fmt.Sprintf("%dL", n(7)), fmt.Sprintf("%d#%d", n(7), n(5)), fmt.Sprintf("%d-%d", n(7), n(7)), fmt.Sprintf("%d/%d", n(7), n(7)), fmt.Sprint(n(7)),
	}
	if r.IntN(2) == 0 {
		return forms[r.IntN(len(forms))], "?"
	}
	return "?", ofWeek[r.IntN(len(ofWeek))]
}

// compareQuartz runs expressions over the months of five years, and returns how many of the days
// differ from the oracle.
func compareQuartz(t *testing.T, form calendar.Form) (differ, compared int) {
	random := rand.New(rand.NewPCG(5, 9))
	for range 400 {
		days, weekdays := randomQuartz(random)
		text := "0 30 9 " + days + " * " + weekdays
		if form.Dialect != calendar.Quartz && calendar.CheckCron(text, form) != nil {
			continue
		}
		month := time.Date(2026+random.IntN(5), time.Month(1+random.IntN(12)), 1, 0, 0, 0, 0, time.UTC)
		var got []int
		rule := calendar.Rule{Crons: []string{text}, Form: form, From: month, To: month.AddDate(0, 1, 0).Add(-time.Second)}
		for _, at := range schedule(t, rule).Upcoming(32) {
			got = append(got, at.Day())
		}
		want := quartzDays(days, weekdays, month.Year(), month.Month())
		compared += len(want)
		if !slices.Equal(want, got) {
			differ++
			if form == quartz {
				t.Errorf("%q in %s: want %v, got %v", text, month.Format("2006-01"), want, got)
			}
		}
	}
	return differ, compared
}

func TestAgainstTheDocumentationOfQuartz(t *testing.T) {
	t.Parallel()
	differ, compared := compareQuartz(t, quartz)
	require.Zero(t, differ)
	require.Greater(t, compared, 500, "the expressions ring")

	// The control: in cron's reading, the numbers of days of the week differ.
	differ, _ = compareQuartz(t, calendar.Form{Seconds: true})
	require.Greater(t, differ, 50, "the comparison notices a wrong answer")
}
