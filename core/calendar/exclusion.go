package calendar

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// exclusions are the times of a wall clock without a ring: whole days, and the whole minutes of a
// cron expression.
type exclusions struct {
	days        map[civilDay]bool
	expressions []expression
	// known caches the exclusions by kind of day. A search over years meets the same few
	// thousand kinds again and again, for each expression of its rule.
	known map[date]*blocked
}

func newExclusions() *exclusions {
	return &exclusions{days: map[civilDay]bool{}, known: map[date]*blocked{}}
}

var errExcludedSeconds = errors.New("must have five fields, without seconds: it excludes whole minutes")

var isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// add adds a date such as 2027-12-25 or a cron expression of five fields.
func (x *exclusions) add(text string) error {
	if isoDate.MatchString(text) {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return errNoSuchDate
		}
		x.days[civil(day.Unix()).day()] = true
		return nil
	}
	if len(strings.Fields(text)) == 6 {
		return errExcludedSeconds
	}
	read, err := parse(text, Form{})
	if !slices.Contains(x.expressions, read) {
		x.expressions = append(x.expressions, read)
	}
	return err
}

func (x *exclusions) empty() bool { return len(x.days) == 0 && len(x.expressions) == 0 }

// blocked is the excluded part of one day: all of it, or minutes of each hour.
type blocked struct {
	all     bool
	minutes [hoursOfDay]set
}

var (
	open   = &blocked{}
	closed = &blocked{all: true}
)

// on returns the excluded part of a day.
func (x *exclusions) on(day civilDay, d date) *blocked {
	switch {
	case x.days[day]:
		return closed
	case len(x.expressions) == 0:
		return open
	}
	b := x.known[d]
	if b == nil {
		b = x.ofKind(d)
		x.known[d] = b
	}
	return b
}

// ofKind returns the excluded part of a kind of day, by the expressions.
func (x *exclusions) ofKind(d date) *blocked {
	b := blocked{all: true}
	for _, one := range x.expressions {
		if !one.onDay(d) {
			continue
		}
		for hour := range b.minutes {
			if one.hours.has(hour) {
				b.minutes[hour] |= one.minutes
			}
		}
	}
	for _, minutes := range b.minutes {
		b.all = b.all && minutes == everyMinute
	}
	return &b
}
