package cron

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/core/calendar"
)

// has reports whether numbers, of which none stand for all, have n.
func has(numbers []int, n int) bool { return numbers == nil || slices.Contains(numbers, n) }

// rings reports whether the words name a day.
func (d Days) rings(day time.Time) bool {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	left := last.Day() - day.Day()
	weekday, workday := int(day.Weekday()), last
	for workday.Weekday() == time.Saturday || workday.Weekday() == time.Sunday {
		workday = workday.AddDate(0, 0, -1)
	}
	if d.Both {
		return slices.Contains(d.OfMonth, day.Day()) && slices.Contains(d.OfWeek, weekday)
	}
	return d.every() || slices.Contains(d.OfMonth, day.Day()) || slices.Contains(d.OfWeek, weekday) || slices.Contains(d.Last, left) ||
		d.LastWorkday && day.Equal(workday) ||
		slices.ContainsFunc(d.Nth, func(n Nth) bool {
			return n.Weekday == weekday && (n.Week == 0 && left < 7 || n.Week > 0 && (day.Day()-1)/7+1 == n.Week)
		})
}

// rings reports whether the words name a time of the day.
func (t Times) rings(c Clock) bool {
	p := t.Pace
	switch {
	case len(t.At) > 0:
		return slices.Contains(t.At, c)
	case !has(p.Hours, c.Hour):
		return false
	case p.EverySeconds > 0:
		return c.Second%p.EverySeconds == 0
	case p.EveryMinutes > 0 && c.Minute%p.EveryMinutes != 0, p.EveryMinutes == 0 && !slices.Contains(p.Minutes, c.Minute):
		return false
	default:
		return c.Second == 0 && p.Seconds == nil || slices.Contains(p.Seconds, c.Second)
	}
}

// window is a stretch of whole days.
type window struct{ from, to time.Time }

// most is how many moments are compared.
const most = 4000

// moments are those that the words name, of each second of each day.
func (t Times) moments(within window) (all []time.Time) {
	var ofDay []time.Duration
	for second := range 24 * 3600 {
		if t.rings(Clock{second / 3600, second / 60 % 60, second % 60}) {
			ofDay = append(ofDay, time.Duration(second)*time.Second)
		}
	}
	for day := within.from; day.Before(within.to) && len(all) < most; day = day.AddDate(0, 0, 1) {
		if !has(t.Months, int(day.Month())) || !t.Days.rings(day) {
			continue
		}
		for _, at := range ofDay {
			all = append(all, day.Add(at))
		}
	}
	return all[:min(len(all), most)]
}

// parsed are the moments of the API.
func parsed(t *testing.T, text string, form Form, within window) []time.Time {
	t.Helper()
	schedule, err := calendar.Rule{
		Crons: []string{text}, Form: calendar.Form{Seconds: form.Seconds, Dialect: calendar.Dialect(form.Dialect)},
		From: within.from, To: within.to.Add(-time.Millisecond),
	}.Schedule()
	require.NoError(t, err)
	return schedule.Upcoming(most)
}

// taken reports whether the API takes an expression.
func taken(text string, form Form) bool {
	return calendar.CheckCron(text, calendar.Form{Seconds: form.Seconds, Dialect: calendar.Dialect(form.Dialect)}) == nil
}

func randomField(r *rand.Rand, low, high int) string {
	number := func() int { return low + r.IntN(high-low+1) }
	switch r.IntN(9) {
	case 0, 1:
		return "*"
	case 2:
		return "*/" + strconv.Itoa(1+r.IntN((high-low)/2))
	case 3:
		return fmt.Sprintf("%d/%d", low+r.IntN(3), 1+r.IntN(3))
	case 4:
		return fmt.Sprintf("%d-%d", number(), number())
	case 5:
		from := low + r.IntN(high-low-3)
		return fmt.Sprintf("%d-%d/%d", from, from+3, 1+r.IntN(2))
	case 6:
		return fmt.Sprintf("%d,%d,%d", number(), number(), number())
	case 7:
		return fmt.Sprintf("%d-%d", low, high)
	default:
		return strconv.Itoa(number())
	}
}

// randomOf is one of several fields, or a random one.
func randomOf(r *rand.Rand, low, high int, some ...string) string {
	if i := r.IntN(2 * len(some)); i < len(some) {
		return some[i]
	}
	return randomField(r, low, high)
}

func random(r *rand.Rand) (text string, form Form) {
	columns := []string{
		randomOf(r, 0, 59, "0", "*/5", "*/15", "30", "0,30"), randomOf(r, 0, 23, "9-17", "*", "9,18", "8"),
		randomOf(r, 1, 31, "*", "*", "*", "?", "1,15", "L", "L-2", "LW", "15W", "1,L"), randomOf(r, 1, 12, "*", "*", "*", "JAN,JUL", "NOV-FEB"),
		randomOf(r, 1, 7, "*", "*", "MON-FRI", "?", "FRI#2", "SUNL", "MON,WED", "SAT-SUN", "MON#1,TUE#3", "*/7"),
	}
	form = Form{Seconds: r.IntN(8) == 0, Dialect: []string{"", "", "", "spring", "quartz"}[r.IntN(5)]}
	if form.Seconds || form.Dialect != "" {
		columns = slices.Insert(columns, 0, randomOf(r, 0, 59, "0", "0", "0", "*/10", "30"))
	}
	if form.Dialect == quartz {
		columns[[]int{dayColumn, weekdayColumn}[r.IntN(2)]] = "?"
		columns = append(columns, []string{"*", "?"}[r.IntN(2)])[:6+r.IntN(2)]
	}
	return strings.Join(columns, " "), form
}

// compare counts the random expressions that the API takes, those of them that are said, and those that
// are said to ring when they do not, or the reverse. wrong makes the reading wrong, for the control.
func compare(t *testing.T, seed uint64, expressions int, wrong func(*Times)) (all, said, differ int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	for range expressions {
		text, form := random(r)
		if !taken(text, form) {
			continue
		}
		all++
		times, ok := Read(text, form)
		if !ok {
			continue
		}
		said++
		from := time.Date(2027, time.January, 1+r.IntN(1500), 0, 0, 0, 0, time.UTC)
		within := window{from, from.AddDate(0, 0, 20+r.IntN(400))}
		if wrong != nil {
			wrong(&times)
		}
		want, got := parsed(t, text, form, within), times.moments(within)
		if !slices.EqualFunc(want, got, time.Time.Equal) {
			differ++
			if wrong == nil {
				t.Errorf("%q %+v is no %+v from %s", text, form, times, from)
			}
		}
	}
	return all, said, differ
}

// The words say exactly when an expression rings. The moments of the API are the oracle.
func TestTheWordsSayWhenItRings(t *testing.T) {
	t.Parallel()
	all, said, differ := compare(t, 1, 500, nil)
	require.Zero(t, differ)
	require.Greater(t, all, 300, "the API takes them")
	require.Greater(t, said, all*3/5, "most are said")
}

// The control: the comparison notices each wrong reading.
func TestWrongReadingsAreNoticed(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(*Times){
		"both for either": func(t *Times) { t.Days.Both = !t.Days.Both },
		"another weekday": func(t *Times) {
			for i := range t.Days.OfWeek {
				t.Days.OfWeek[i] = (t.Days.OfWeek[i] + 1) % daysOfWeek
			}
		},
		"another week": func(t *Times) {
			for i := range t.Days.Nth {
				t.Days.Nth[i].Week = (t.Days.Nth[i].Week + 1) % 6
			}
		},
		"the last day":   func(t *Times) { t.Days.Last = nil },
		"the months":     func(t *Times) { t.Months = nil },
		"the hours":      func(t *Times) { t.Pace.Hours = nil },
		"the seconds":    func(t *Times) { t.Pace.Seconds = nil },
		"another minute": func(t *Times) { t.Pace.EveryMinutes *= 2 },
		"a time less": func(t *Times) {
			if len(t.At) > 1 {
				t.At = t.At[1:]
			}
		},
	} {
		_, _, differ := compare(t, 2, 120, wrong)
		require.Positive(t, differ, name)
	}
}

// Words mean one thing: no two readings have the same ones, in either language.
func TestOtherTimesHaveOtherWords(t *testing.T) {
	t.Parallel()
	r, meaning := rand.New(rand.NewPCG(3, 7)), map[string]string{}
	for range 20_000 {
		text, form := random(r)
		times, ok := Read(text, form)
		if !ok {
			continue
		}
		for _, lang := range words.Languages {
			said, read := times.In(words.Speech{Lang: lang}), fmt.Sprintf("%+v", times)
			if known := meaning[said]; known != "" {
				require.Equal(t, known, read, said)
			}
			meaning[said] = read
			require.NotContains(t, said, "%")
			require.NotContains(t, said, "cron.")
		}
	}
	require.Greater(t, len(meaning), 5000, "the expressions differ")
}

// No expression that the API takes is said to ring when it does not, and none panics.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"*/5 9-17 * * 1-5", "0 9,18 * * MON,WED", "@daily", "0 0 1,15 * *", "0 0 13 * FRI", "0 0 */2 * MON", "0 12 L * *", "0 0 LW JAN,JUL *", "0 0 * * FRI#2",
		"30 */10 * * * *", "0 0 12 ? * 2-6", "0 0 1-31 * MON", "22-2 5/2 * NOV-FEB 5-1", "0 0 L-3,1 * *", "59 59 23 31 12 7", "", "/5 0 0 ? * 7L *", "0 0 15W * *",
	} {
		f.Add(text, false, uint8(0))
		f.Add(text, true, uint8(1))
		f.Add(text, false, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, seconds bool, dialect uint8) {
		form := Form{Seconds: seconds, Dialect: []string{"", "spring", quartz}[dialect%3]}
		times, ok := Read(text, form)
		if !ok || !taken(text, form) {
			return
		}
		from := time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)
		within := window{from, from.AddDate(0, 0, 400)}
		require.Equal(t, parsed(t, text, form, within), times.moments(within), "%+v", times)
	})
}
