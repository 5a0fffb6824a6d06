package cron

import (
	"regexp"
	"slices"
	"strings"
)

// Days are the days of a rule: those that any part names, or every day if none does.
type Days struct {
	OfMonth []int
	// Last has n for the day n before the last one of the month.
	Last []int
	// LastWorkday is the last day of the month from Monday to Friday.
	LastWorkday bool
	// OfWeek has 0 for Sunday.
	OfWeek []int
	Nth    []Nth
	// Both reports whether a day must be in OfMonth and in OfWeek. There are no other parts then.
	Both bool
}

// Nth is a day of the week in the n-th week of the month; a Week of 0 is the last one.
type Nth struct{ Week, Weekday int }

// every reports whether the days are all days.
func (d Days) every() bool {
	return len(d.OfMonth) == 0 && len(d.Last) == 0 && !d.LastWorkday && len(d.OfWeek) == 0 && len(d.Nth) == 0
}

// readDays reads the two columns of days.
func readDays(columns []string, form Form) (Days, bool) {
	month, ok := daysOfMonthIn(columns[dayColumn], form)
	week, known := daysOfWeekIn(columns[weekdayColumn], form)
	if !ok || !known {
		return Days{}, false
	}
	open := func(column int) bool { return strings.HasPrefix(columns[column], "*") || columns[column] == "?" }
	either := form.Dialect == "" && !open(dayColumn) && !open(weekdayColumn)
	anyOfMonth, anyOfWeek := len(month.OfMonth) == daysOfMonth, len(week.OfWeek) == daysOfWeek
	switch {
	case anyOfMonth && anyOfWeek, either && (anyOfMonth || anyOfWeek):
		return Days{}, true
	case anyOfMonth:
		return week, true
	case anyOfWeek:
		return month, true
	}
	all := Days{OfMonth: month.OfMonth, Last: month.Last, LastWorkday: month.LastWorkday, OfWeek: week.OfWeek, Nth: week.Nth}
	all.Both = !either
	return all, either || len(all.Last) == 0 && !all.LastWorkday && len(all.Nth) == 0
}

// lastDay is the last day of the month, or one before it.
var lastDay = regexp.MustCompile(`^L(?:-([0-9]{1,2}))?$`)

// daysOfMonthIn reads the column of days of the month. The workday nearest to a day cannot be said in a
// few words.
func daysOfMonthIn(column string, form Form) (d Days, ok bool) {
	var plain []string
	for item := range strings.SplitSeq(column, ",") {
		parts := lastDay.FindStringSubmatch(item)
		switch {
		case item == "LW":
			d.LastWorkday = true
		case parts == nil:
			plain = append(plain, item)
		case parts[1] == "":
			d.Last = append(d.Last, 0)
		default:
			n, _ := number(parts[1])
			d.Last = append(d.Last, n)
		}
	}
	slices.Sort(d.Last)
	d.Last = slices.Compact(d.Last)
	d.OfMonth, ok = plainDays(dayColumn, plain, form)
	return d, ok
}

// plainDays reads the items of a column of days that any field may have.
func plainDays(column int, items []string, form Form) (numbers []int, ok bool) {
	text := strings.Join(items, ",")
	switch {
	case len(items) == 0:
		return nil, true
	case text == "?":
		text = "*"
	case form.Dialect == quartz && strings.HasPrefix(text, "/"):
		text = "*" + text
	}
	return fieldOf(column, form).read(text)
}

// nthForm is a day of the week in the last week of the month, or in the n-th.
var nthForm = regexp.MustCompile(`^([A-Z]{3}|[0-7])(?:L|#([1-5]))$`)

// daysOfWeekIn reads the column of days of the week.
func daysOfWeekIn(column string, form Form) (d Days, ok bool) {
	var plain []string
	for item := range strings.SplitSeq(column, ",") {
		parts := nthForm.FindStringSubmatch(item)
		if parts == nil {
			plain = append(plain, item)
			continue
		}
		day, known := fieldOf(weekdayColumn, form).number(parts[1])
		if !known {
			return Days{}, false
		}
		week, _ := number("0" + parts[2])
		d.Nth = append(d.Nth, Nth{Week: week, Weekday: weekday(day, form)})
	}
	numbers, ok := plainDays(weekdayColumn, plain, form)
	for _, n := range numbers {
		d.OfWeek = append(d.OfWeek, weekday(n, form))
	}
	slices.Sort(d.OfWeek)
	d.OfWeek = slices.Compact(d.OfWeek)
	return d, ok
}

// weekday is a day of the week by its number in a dialect, 0 for Sunday. Quartz counts from 1.
func weekday(n int, form Form) int {
	if form.Dialect == quartz {
		n--
	}
	return n % daysOfWeek
}
