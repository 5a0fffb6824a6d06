package cron

import (
	"slices"
	"strconv"
	"strings"
)

// Form is how expressions are written.
type Form struct {
	// Seconds reports whether they begin with a field for seconds. Dialect is their scheduler; "" is cron.
	Seconds bool
	Dialect string
}

const quartz = "quartz"

// nicknames stand for whole expressions.
var nicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// The columns of an expression, with seconds.
const (
	secondColumn = iota
	minuteColumn
	hourColumn
	dayColumn
	monthColumn
	weekdayColumn
	allColumns
)

// columnsOf splits an expression into its columns, with seconds.
func columnsOf(text string, form Form) (columns []string, ok bool) {
	plain, nickname := nicknames[strings.ToLower(text)]
	if nickname {
		text, form = plain, Form{}
	}
	columns = strings.Fields(strings.ToUpper(text))
	if form.Dialect == quartz && len(columns) == allColumns+1 {
		if columns[allColumns] != "*" && columns[allColumns] != "?" {
			return nil, false // years
		}
		columns = columns[:allColumns]
	}
	if len(columns) == allColumns-1 && !form.Seconds && form.Dialect == "" {
		columns = slices.Insert(columns, 0, "0")
	}
	return columns, len(columns) == allColumns
}

// field is what a column may hold: whole numbers, the lowest of which may have names.
type field struct {
	low, high int
	names     []string
}

var (
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
)

var fields = [allColumns]field{
	{high: 59}, {high: 59}, {high: 23}, {low: 1, high: 31}, {low: 1, high: 12, names: monthNames}, {high: 7, names: weekdayNames},
}

// fieldOf is the field of a column.
func fieldOf(column int, form Form) field {
	f := fields[column]
	if column == weekdayColumn && form.Dialect == quartz {
		f.low = 1
	}
	return f
}

// read reads a list of items, as numbers in order.
func (f field) read(text string) (numbers []int, ok bool) {
	for item := range strings.SplitSeq(text, ",") {
		some, ok := f.item(item)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, some...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), true
}

// item reads one number, a range, or steps through one.
func (f field) item(text string) (numbers []int, ok bool) {
	span, stepText, stepped := strings.Cut(text, "/")
	first, last, ranged := strings.Cut(span, "-")
	from, ok := f.low, true
	to, step := f.high, 1
	if span != "*" {
		from, ok = f.number(first)
	}
	switch {
	case ranged && ok:
		to, ok = f.number(last)
	case span != "*" && !stepped:
		to = from
	}
	if stepped && ok {
		step, ok = number(stepText)
	}
	if !ok || step < 1 || stepped && from > to {
		return nil, false
	}
	if from > to { // past the end, and on from the start
		return append(upTo(from, f.high, 1), upTo(f.low, to, 1)...), true
	}
	return upTo(from, to, step), true
}

func upTo(from, to, step int) (numbers []int) {
	for ; from <= to; from += step {
		numbers = append(numbers, from)
	}
	return numbers
}

// number reads a number of the field, or a name.
func (f field) number(text string) (n int, ok bool) {
	if i := slices.Index(f.names, text); i >= 0 {
		return f.low + i, true
	}
	n, ok = number(text)
	return n, ok && n >= f.low && n <= f.high
}

// number reads a number of one digit or two.
func number(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && len(text) <= 2 && text[0] >= '0' && text[0] <= '9'
}
