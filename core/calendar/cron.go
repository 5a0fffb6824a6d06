package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/netresearch/go-cron"
)

// MaxExpression is the longest cron expression, in bytes. It has room for every minute, listed
// one by one.
const MaxExpression = 256

// expression is a parsed cron expression, ready to be matched against wall clocks.
type expression struct {
	seconds, minutes, hours set
	days, months, weekdays  set
	// special are further days.
	special specialDays
	// eitherDay reports whether a match of either days or weekdays is enough. In Vixie cron it
	// is, if neither field begins with a star.
	eitherDay bool
	// follows reports whether the rule follows changes of the clock, because its hour field
	// begins with a star. Any other rule names times of the day.
	follows bool
}

// onDay reports whether the rule rings on a day.
func (r expression) onDay(d date) bool {
	if !r.months.has(d.month) {
		return false
	}
	day := r.days.has(d.day) || r.special.onDay(d)
	weekday := r.weekdays.has(int(d.weekday)) || r.special.onWeekday(d)
	if r.eitherDay {
		return day || weekday
	}
	return day && weekday
}

// longStep is an item whose step may exceed the rest of its range.
var longStep = regexp.MustCompile(`^([0-9]{1,2})(?:-([0-9]{1,2}))?/([0-9]{1,2})$`)

// quartzSteps returns a column of Quartz in the library's form. In Quartz a step may stand
// alone. It may also exceed its range, and then leaves only the start of the range.
func (f field) quartzSteps(column string) string {
	items := strings.Split(column, ",")
	for i, item := range items {
		if strings.HasPrefix(item, "/") {
			items[i] = "*" + item
		}
		parts := longStep.FindStringSubmatch(item)
		if parts == nil {
			continue
		}
		from, _ := strconv.Atoi(parts[1])
		to, err := strconv.Atoi(parts[2])
		step, _ := strconv.Atoi(parts[3])
		if err != nil {
			to = f.high
		}
		if from <= to && to <= f.high && step <= f.high && from+step > to {
			items[i] = parts[1]
		}
	}
	return strings.Join(items, ",")
}

// field is one column of an expression. The library reads a column alone,
// so that a refusal can name it.
type field struct {
	name   string
	values string
	high   int
	parser cron.Parser
	bits   func(*cron.SpecSchedule) uint64
}

var fields = []field{
	{"second", "0-59", 59, cron.MustNewParser(cron.Second), func(s *cron.SpecSchedule) uint64 { return s.Second }},
	{"minute", "0-59", 59, cron.MustNewParser(cron.Minute), func(s *cron.SpecSchedule) uint64 { return s.Minute }},
	{"hour", "0-23", 23, cron.MustNewParser(cron.Hour), func(s *cron.SpecSchedule) uint64 { return s.Hour }},
	{"day-of-month", "1-31", 31, cron.MustNewParser(cron.Dom), func(s *cron.SpecSchedule) uint64 { return s.Dom }},
	{"month", "1-12 or JAN-DEC", 12, cron.MustNewParser(cron.Month), func(s *cron.SpecSchedule) uint64 { return s.Month }},
	{"day-of-week", "0-7 or SUN-SAT", 7, cron.MustNewParser(cron.Dow), func(s *cron.SpecSchedule) uint64 { return s.Dow }},
}

// nicknames are the names that Vixie cron has for times.
var nicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// columnForm is stricter than the library. The library accepts an empty item of a list, a sign
// before a number and a question mark.
var columnForm = regexp.MustCompile(`^` + itemForm + `(,` + itemForm + `)*$`)

const itemForm = `(\*|[0-9]{1,2}|[A-Za-z]{3}|([0-9]{1,2}|[A-Za-z]{3})-([0-9]{1,2}|[A-Za-z]{3}))(/[0-9]{1,2})?`

// The columns of days.
const (
	dayColumn     = 3
	weekdayColumn = 5
)

// parse reads an expression. The error names the fault and its field, in words for a caller.
func parse(text string, form Form) (read expression, err error) {
	columns, err := columnsOf(text, form)
	if err != nil {
		return expression{}, err
	}
	plain, ok := read.special.read(columns, form.Dialect)
	if !ok {
		return expression{}, errSpecialDay
	}
	var sets [6]set
	for i, field := range fields {
		if sets[i], err = field.read(plain[i], form.Dialect); err != nil {
			return expression{}, err
		}
	}
	read.seconds, read.minutes, read.hours = sets[0], sets[1], sets[2]
	read.days, read.months, read.weekdays = sets[dayColumn], sets[4], sets[weekdayColumn]
	open := func(i int) bool { return strings.HasPrefix(columns[i], "*") || columns[i] == "?" }
	read.eitherDay = form.Dialect == "" && !open(dayColumn) && !open(weekdayColumn)
	read.follows = strings.HasPrefix(columns[2], "*")
	return read, nil
}

// read reads the items of a column that any field may have. The column may consist of special
// days only.
func (f field) read(column string, dialect Dialect) (set, error) {
	ofDay := f.name == fields[dayColumn].name || f.name == fields[weekdayColumn].name
	switch {
	case ofDay && column == "":
		return 0, nil
	case ofDay && column == "?":
		column = "*"
	case dialect == Quartz:
		column = f.quartzSteps(column)
	}
	if dialect != Quartz || f.name != fields[weekdayColumn].name {
		return f.parse(column)
	}
	if days, ok := quartzWeekdays(column); ok && (columnForm.MatchString(column) || column == "L") {
		return days, nil
	}
	return 0, f.refused(column, "1-7 or SUN-SAT")
}

func (f field) parse(column string) (set, error) {
	refused := f.refused(column, f.values)
	if !columnForm.MatchString(column) {
		return 0, refused
	}
	parsed, err := f.parser.Parse(column)
	if err != nil {
		return 0, refused
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return 0, refused
	}
	const wildcard = 1 << 63 // the library's mark of a star, no member of the set
	return set(f.bits(spec) &^ wildcard), nil
}

func (f field) refused(column, values string) error {
	return fmt.Errorf("has %q in the %s field, which takes %s, *, ranges, steps shorter than their range, and lists of them",
		column, f.name, values)
}

var errSpecialDay = errors.New("has an invalid day: days of the month may be L, L-3, LW or 15W, " +
	"and days of the week FRIL or FRI#2; Quartz allows no lists of them")
