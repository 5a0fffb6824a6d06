package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Dialect names the scheduler of a cron expression. The empty one is Vixie cron's.
type Dialect string

// The dialects number the days of the week differently, and combine two day fields differently.
const (
	// Quartz counts days of the week from SUN=1, and has ? in exactly one of the day fields.
	Quartz Dialect = "quartz"
	// Spring counts them from SUN=0 or 7, and a day must match both fields.
	Spring Dialect = "spring"
)

// Dialects lists the dialects that have a name.
func Dialects() []Dialect { return []Dialect{Quartz, Spring} }

// Form describes how expressions are written.
type Form struct {
	// Seconds reports whether expressions begin with a field for seconds. A dialect implies it,
	// and so do six fields that mean nothing else.
	Seconds bool
	Dialect Dialect
}

var (
	errOneQuestionMark = errors.New("must have ? in exactly one of the fields day-of-month and day-of-week, as in Quartz")
	errYears           = errors.New("names years in its seventh field: give start_at and end_at instead")
	errWeekdayNumber   = errors.New("has six fields and a day of the week by its number, " +
		"which Quartz counts from SUN=1 and others from SUN=0: write names such as MON, or give dialect or seconds")
)

// columnsOf splits an expression into six columns.
func columnsOf(text string, form Form) ([]string, error) {
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
	if form.Dialect == Quartz && len(columns) == 7 {
		if columns[6] != "*" && columns[6] != "?" {
			return nil, errYears
		}
		columns = columns[:6]
	}
	switch {
	case len(columns) == 6:
		return columns, checkGuess(columns, form)
	case form.Seconds || form.Dialect != "":
		return nil, fmt.Errorf("must have six fields, second minute hour day-of-month month day-of-week, and has %d", len(columns))
	case len(columns) != 5:
		return nil, fmt.Errorf("must have five fields, minute hour day-of-month month day-of-week, "+
			"or six with second in front, and has %d", len(columns))
	}
	return append([]string{"0"}, columns...), nil
}

// weekdayNumber is a day of the week by its number. It matches no step and no number of a week.
var weekdayNumber = regexp.MustCompile(`(^|[,-])[0-7]([^0-9]|$)`)

// checkGuess refuses six columns that mean different days to different schedulers. It also
// refuses columns against the rules of their dialect.
func checkGuess(columns []string, form Form) error {
	switch {
	case form.Dialect == Quartz && (columns[3] == "?") == (columns[5] == "?"):
		return errOneQuestionMark
	case form.Dialect == "" && !form.Seconds && weekdayNumber.MatchString(columns[5]):
		return errWeekdayNumber
	}
	return nil
}
