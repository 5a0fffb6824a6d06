package calendar

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// specialDays are the days of a rule that depend on the length of a month or of its weeks.
type specialDays struct {
	// some reports whether there are any.
	some bool
	// last holds n for the day n before the last of the month (L, L-3). lastWorkday holds n for
	// the day from Monday to Friday nearest to that day (LW, L-3W).
	last, lastWorkday set
	// workday holds the days whose nearest weekday rings (15W). If such a day is a Sunday at the
	// end of the month and also in atEnd, the Friday before it rings.
	workday, atEnd set
	// nth holds the days of the n-th week of the month (FRI#2), and lastOf those of its last
	// week (FRIL).
	nth    [6]set
	lastOf set
}

// onDay reports whether a special day of the month matches.
func (s specialDays) onDay(d date) bool {
	if !s.some {
		return false
	}
	if s.last.has(d.left()) {
		return true
	}
	last := d.day + d.left()
	for n, left := s.lastWorkday.least(); left; n, left = s.lastWorkday.from(n + 1).least() {
		if last > n && d.nearest(last-n, true) {
			return true
		}
	}
	for _, target := range []int{d.day - 2, d.day - 1, d.day, d.day + 1, d.day + 2} {
		if target > 0 && s.workday.has(target) && d.nearest(target, s.atEnd.has(target)) {
			return true
		}
	}
	return false
}

// onWeekday reports whether a special day of the week matches.
func (s specialDays) onWeekday(d date) bool {
	weekday := int(d.weekday)
	return s.some && (s.nth[(d.day+6)/7].has(weekday) || d.left() < 7 && s.lastOf.has(weekday))
}

// left returns how many days of the month follow.
func (d date) left() int { return int(d.rest) - 1 }

// nearest reports whether a day is the day from Monday to Friday nearest to target in its month.
// Quartz and Spring have these rules:
//
//   - A Saturday means the Friday before.
//   - A Sunday means the Monday after.
//   - The first of the month always means the Monday after.
//
// Both count the day after a short month as part of it, unless the Friday before is in the
// month. With atEnd, a Sunday that ends the month means the Friday before, as in Quartz.
func (d date) nearest(target int, atEnd bool) bool {
	switch d.weekday {
	case time.Saturday, time.Sunday:
		return false
	case time.Friday:
		return d.day == target || d.day == target-1 || atEnd && d.day == target-2 && d.left() == 2
	case time.Monday:
		return d.day == target || d.day == target+1 || target == 1 && d.day == 3
	default:
		return d.day == target
	}
}

// The items of a day field that no other field has.
var (
	lastForm    = regexp.MustCompile(`^L(?:-([0-9]{1,2}))?(W?)$`)
	workdayForm = regexp.MustCompile(`^([0-9]{1,2})W$`)
	weekForm    = regexp.MustCompile(`^([A-Z]{3}|[0-7])(?:L|#([1-5]))$`)
)

// read takes the special items out of the columns of days, and returns the others.
func (s *specialDays) read(columns []string, dialect Dialect) (rest []string, ok bool) {
	rest = slices.Clone(columns)
	for _, i := range []int{dayColumn, weekdayColumn} {
		var plain []string
		items := strings.Split(strings.ToUpper(columns[i]), ",")
		for _, item := range items {
			switch special, valid := s.add(i, item, dialect); {
			case special && (!valid || dialect == Quartz && len(items) > 1):
				return nil, false
			case special:
				s.some = true
			default:
				plain = append(plain, item)
			}
		}
		rest[i] = strings.Join(plain, ",")
	}
	return rest, true
}

// add adds one item; special is false for an item that any field may have.
func (s *specialDays) add(column int, item string, dialect Dialect) (special, valid bool) {
	if column == weekdayColumn {
		return s.addWeekday(item, dialect)
	}
	if parts := lastForm.FindStringSubmatch(item); parts != nil {
		n, _ := strconv.Atoi(parts[1])
		if parts[2] == "" {
			s.last |= 1 << n
		} else {
			s.lastWorkday |= 1 << n
		}
		return true, n <= 30
	}
	if parts := workdayForm.FindStringSubmatch(item); parts != nil {
		day, _ := strconv.Atoi(parts[1])
		s.workday |= 1 << day
		if dialect != Spring {
			s.atEnd |= 1 << day
		}
		return true, day >= 1 && day <= 31
	}
	return false, false
}

func (s *specialDays) addWeekday(item string, dialect Dialect) (special, valid bool) {
	parts := weekForm.FindStringSubmatch(item)
	if parts == nil {
		return false, false
	}
	day, ok := weekdayOf(parts[1], dialect)
	if parts[2] == "" {
		s.lastOf |= 1 << day
	} else {
		week, _ := strconv.Atoi(parts[2])
		s.nth[week] |= 1 << day
	}
	return true, ok
}

var weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

// weekdayOf returns the day of the week for a name or a number of a dialect.
func weekdayOf(text string, dialect Dialect) (day int, ok bool) {
	if day = slices.Index(weekdays, text); day >= 0 {
		return day, true
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0 || n > 7:
		return 0, false
	case dialect == Quartz:
		return max(n-1, 0), n >= 1
	}
	return n % 7, true
}

// quartzWeekdays returns the days of a column with Quartz's numbers. A step goes to SAT, and a
// range may go past it.
func quartzWeekdays(column string) (days set, ok bool) {
	for item := range strings.SplitSeq(column, ",") {
		span, step, stepped := strings.Cut(item, "/")
		by := 1
		if stepped {
			by, _ = strconv.Atoi(step)
		}
		if span == "L" {
			span = "SAT"
		}
		first, last, ranged := strings.Cut(span, "-")
		from, known := weekdayOf(first, Quartz)
		to := from
		switch {
		case span == "*":
			from, to, known = 0, 6, true
		case ranged:
			var knownLast bool
			to, knownLast = weekdayOf(last, Quartz)
			known = known && knownLast
		case stepped:
			to = 6
		}
		if !known || by < 1 || by > 7 {
			return 0, false
		}
		if to < from {
			to += 7
		}
		for ; from <= to; from += by {
			days |= 1 << (from % 7)
		}
	}
	return days, true
}
