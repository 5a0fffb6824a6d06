package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/netresearch/go-cron"
)

// MaxExpression is the longest cron expression, in bytes: it has room for every minute
// listed one by one.
const MaxExpression = 256

// expression is a cron expression that was read, ready to be matched against wall clocks.
type expression struct {
	seconds, minutes, hours set
	days, months, weekdays  set
	// eitherDay is whether a day that matches one of days and weekdays is enough:
	// in Vixie cron it is where neither field begins with a star.
	eitherDay bool
	// follows is whether the rule follows the clock when that changes, because its
	// hour field begins with a star. Any other names times of the day.
	follows bool
}

// onDay reports whether the rule rings on a day at all.
func (r expression) onDay(d date) bool {
	if !r.months.has(d.month) {
		return false
	}
	day, weekday := r.days.has(d.day), r.weekdays.has(int(d.weekday))
	if r.eitherDay {
		return day || weekday
	}
	return day && weekday
}

// field is one column of an expression. The library reads a column alone,
// so that a refusal can name it.
type field struct {
	name   string
	values string
	parser cron.Parser
	bits   func(*cron.SpecSchedule) uint64
}

var fields = []field{
	{"second", "0-59", cron.MustNewParser(cron.Second), func(s *cron.SpecSchedule) uint64 { return s.Second }},
	{"minute", "0-59", cron.MustNewParser(cron.Minute), func(s *cron.SpecSchedule) uint64 { return s.Minute }},
	{"hour", "0-23", cron.MustNewParser(cron.Hour), func(s *cron.SpecSchedule) uint64 { return s.Hour }},
	{"day-of-month", "1-31", cron.MustNewParser(cron.Dom), func(s *cron.SpecSchedule) uint64 { return s.Dom }},
	{"month", "1-12 or JAN-DEC", cron.MustNewParser(cron.Month), func(s *cron.SpecSchedule) uint64 { return s.Month }},
	{"day-of-week", "0-7 or SUN-SAT", cron.MustNewParser(cron.Dow), func(s *cron.SpecSchedule) uint64 { return s.Dow }},
}

// nicknames are those of Vixie cron that name a time.
var nicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// columnForm is stricter than the library, which lets an empty item of a list,
// a sign before a number and a question mark pass.
var columnForm = regexp.MustCompile(`^` + itemForm + `(,` + itemForm + `)*$`)

const itemForm = `(\*|[0-9]{1,2}|[A-Za-z]{3}|([0-9]{1,2}|[A-Za-z]{3})-([0-9]{1,2}|[A-Za-z]{3}))(/[0-9]{1,2})?`

// parse reads an expression of five fields, or six with seconds in front.
// The error says what is wrong and in which field, in words for a caller.
func parse(text string, seconds bool) (expression, error) {
	columns, err := columnsOf(text, seconds)
	if err != nil {
		return expression{}, err
	}
	var sets [6]set
	for i, field := range fields {
		if sets[i], err = field.parse(columns[i]); err != nil {
			return expression{}, err
		}
	}
	star := func(i int) bool { return strings.HasPrefix(columns[i], "*") }
	return expression{
		seconds: sets[0], minutes: sets[1], hours: sets[2], days: sets[3], months: sets[4], weekdays: sets[5],
		eitherDay: !star(3) && !star(5), follows: star(2),
	}, nil
}

// columnsOf splits an expression into six columns.
func columnsOf(text string, seconds bool) ([]string, error) {
	if len(text) > MaxExpression {
		return nil, fmt.Errorf("must be at most %d characters", MaxExpression)
	}
	if strings.Contains(text, "TZ=") {
		return nil, errors.New("must not name a time zone: give timezone")
	}
	if strings.HasPrefix(text, "@") {
		plain, known := nicknames[strings.ToLower(text)]
		if !known {
			return nil, errors.New("may be @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually; for an interval give every")
		}
		return append([]string{"0"}, strings.Fields(plain)...), nil
	}
	columns := strings.Fields(text)
	switch {
	case seconds && len(columns) != 6:
		return nil, fmt.Errorf("must have six fields, second minute hour day-of-month month day-of-week, and has %d", len(columns))
	case !seconds && len(columns) == 6:
		return nil, errors.New("has six fields: give seconds true if the first is for seconds")
	case !seconds && len(columns) != 5:
		return nil, fmt.Errorf("must have five fields, minute hour day-of-month month day-of-week, and has %d", len(columns))
	case !seconds:
		columns = append([]string{"0"}, columns...)
	}
	return columns, nil
}

func (f field) parse(column string) (set, error) {
	refused := fmt.Errorf("has %q in the %s field, which takes %s, *, ranges, steps shorter than their range, and lists of them",
		column, f.name, f.values)
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
