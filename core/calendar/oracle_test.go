package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
)

// An independent reading of cron without bit sets and spans of equal offset. It looks at one
// minute after the other on a wall clock, and checks the number against each field's text.

// holds reports whether a field, written in numbers, holds n.
func holds(field string, n, low, high int) bool {
	for item := range strings.SplitSeq(field, ",") {
		body, stepText, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		from, to := low, high
		if body != "*" {
			fromText, toText, ranged := strings.Cut(body, "-")
			from, _ = strconv.Atoi(fromText)
			switch {
			case ranged:
				to, _ = strconv.Atoi(toText)
			case !stepped:
				to = from
			}
		}
		if n >= from && n <= to && (n-from)%step == 0 {
			return true
		}
	}
	return false
}

// face is an expression written out: the numbers of each field.
type face struct {
	holds            [5][60]bool
	dayStar, anyHour bool
}

func faceOf(expression string) (f face) {
	fields := strings.Fields(expression)
	for i, bounds := range [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}} {
		for n := bounds[0]; n <= bounds[1]; n++ {
			f.holds[i][n] = holds(fields[i], n, bounds[0], bounds[1])
		}
	}
	f.holds[4][0] = f.holds[4][0] || f.holds[4][7]
	f.dayStar = fields[2][0] == '*' || fields[4][0] == '*'
	f.anyHour = fields[1][0] == '*'
	return f
}

// shows reports whether the expression matches the time on a clock.
func (f *face) shows(clock time.Time) bool {
	if !f.holds[0][clock.Minute()] || !f.holds[1][clock.Hour()] || !f.holds[3][clock.Month()] {
		return false
	}
	day, weekday := f.holds[2][clock.Day()], f.holds[4][clock.Weekday()]
	if f.dayStar {
		return day && weekday
	}
	return day || weekday
}

// lookback is how long before the stretch the oracle begins to watch the clock, to know the
// times already shown: longer than any repeated hour.
const lookback = 6 * time.Hour

// oracle walks minute by minute. faulty makes it wrong, for the control.
func oracle(r calendar.Rule, from, to time.Time, faulty bool) (times []time.Time) {
	zone, _ := time.LoadLocation(r.Timezone)
	wall := func(at time.Time) time.Time { // the wall clock, as if it were UTC
		_, offset := at.In(zone).Zone()
		return at.UTC().Add(time.Duration(offset) * time.Second)
	}
	rule, excluded, dates := faceOf(r.Crons[0]), []face{}, map[string]bool{}
	for _, text := range r.Exclude {
		if strings.Contains(text, " ") {
			excluded = append(excluded, faceOf(text))
		} else {
			dates[text] = true
		}
	}
	rings := func(clock time.Time) bool {
		return rule.shows(clock) && !dates[clock.Format(time.DateOnly)] &&
			!slices.ContainsFunc(excluded, func(x face) bool { return x.shows(clock) })
	}
	// furthest is the latest time the clock has shown.
	furthest := wall(from.Add(-lookback))
	for at := from.Add(-lookback); at.Before(to); at = at.Add(time.Minute) {
		clock, due := wall(at), false
		if rule.anyHour || faulty {
			due = rings(clock)
		} else {
			// Every new time up to the one on the clock.
			for past := furthest.Add(time.Minute); !past.After(clock); past = past.Add(time.Minute) {
				due = due || rings(past)
			}
		}
		if clock.After(furthest) {
			furthest = clock
		}
		if due && !at.Before(from) {
			times = append(times, at.UTC())
		}
	}
	return times
}

// zones change their clocks by an hour, by half an hour, at midnight, in the
// south, in Ramadan, or never.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Asia/Beirut",
	"Atlantic/Azores", "Africa/Casablanca", "Pacific/Chatham", "Asia/Kolkata", "America/St_Johns", "Europe/Dublin", "Antarctica/Troll",
}

// changes returns moments at which the offset of a zone changes.
func changes(zone *time.Location, from time.Time) (at []time.Time) {
	for range 4 {
		_, end := from.In(zone).ZoneBounds()
		if end.IsZero() {
			break
		}
		at, from = append(at, end), end
	}
	return at
}

func randomField(r *rand.Rand, low, high int) string {
	number := func() int { return low + r.IntN(high-low+1) }
	switch r.IntN(6) {
	case 0, 1:
		return "*"
	case 2:
		return "*/" + strconv.Itoa(1+r.IntN((high-low)/2))
	case 3:
		from := low + r.IntN(high-low-3)
		return fmt.Sprintf("%d-%d/%d", from, from+3, 1+r.IntN(2))
	case 4:
		return fmt.Sprintf("%d,%d,%d", number(), number(), number())
	default:
		return strconv.Itoa(number())
	}
}

func randomCron(r *rand.Rand) string {
	return strings.Join([]string{
		randomField(r, 0, 59), randomField(r, 0, 23), randomField(r, 1, 31), randomField(r, 1, 12), randomField(r, 0, 7),
	}, " ")
}

// nightly hits the hours in which clocks change.
func nightly(r *rand.Rand) string {
	return randomField(r, 0, 59) + " " + []string{"0-3", "2", "1,2", "*", "*/2", "0", "23-23", "1-4/2"}[r.IntN(8)] + " * * " + []string{"*", "0", "6-7"}[r.IntN(3)]
}

func randomRule(r *rand.Rand) calendar.Rule {
	text := randomCron(r)
	if r.IntN(2) == 0 {
		text = nightly(r)
	}
	rule := calendar.Rule{Crons: []string{text}, Timezone: zones[r.IntN(len(zones))]}
	for range r.IntN(3) {
		rule.Exclude = append(rule.Exclude, []string{randomCron(r), nightly(r), fmt.Sprintf("2027-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28))}[r.IntN(3)])
	}
	return rule
}

// compare runs rules against the oracle around the nights of change. It returns how many of them
// differ, and how many moments were compared.
func compare(t *testing.T, seed uint64, rules int, faulty bool) (differ, compared int) {
	random := rand.New(rand.NewPCG(seed, 7))
	for range rules {
		r := randomRule(random)
		zone, err := time.LoadLocation(r.Timezone)
		require.NoError(t, err)
		from := time.Date(2027, 1, 1+random.IntN(365), random.IntN(24), random.IntN(60), 0, 0, time.UTC)
		if nights := changes(zone, from.AddDate(-1, 0, 0)); len(nights) > 0 && random.IntN(4) > 0 {
			from = nights[random.IntN(len(nights))].Add(-time.Duration(random.IntN(30*60)) * time.Minute)
		}
		to := from.Add(72 * time.Hour)
		r.From, r.To = from, to.Add(-time.Millisecond)
		got := schedule(t, r).Upcoming(72 * 60)
		want := oracle(r, from, to, faulty)
		compared += len(want)
		if !slices.Equal(want, got) {
			differ++
			if !faulty {
				t.Errorf("%q in %s without %q from %s:\nwant %v\ngot  %v", r.Crons, r.Timezone, r.Exclude, from, want, got)
			}
		}
	}
	return differ, compared
}

func TestAgainstAnIndependentWalk(t *testing.T) {
	t.Parallel()
	differ, compared := compare(t, 1, 1000, false)
	require.Zero(t, differ)
	require.Greater(t, compared, 10_000, "the rules ring")

	// The control: an oracle that lets every rule follow the clock.
	differ, _ = compare(t, 1, 300, true)
	require.Greater(t, differ, 10, "the comparison notices a wrong answer")
}
