package calendar

import (
	"regexp"
	"time"
)

// exclusions are the times of a wall clock at which nothing rings: whole days,
// and whole minutes that a cron expression matches.
type exclusions struct {
	days        map[civilDay]bool
	expressions []expression
}

func newExclusions() *exclusions { return &exclusions{days: map[civilDay]bool{}} }

var isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// add takes up a date such as 2027-12-25 or a cron expression of five fields.
func (x *exclusions) add(text string) error {
	if isoDate.MatchString(text) {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return errNoSuchDate
		}
		x.days[civil(day.Unix()).day()] = true
		return nil
	}
	read, err := parse(text, false)
	x.expressions = append(x.expressions, read)
	return err
}

func (x *exclusions) empty() bool { return len(x.days) == 0 && len(x.expressions) == 0 }

// blocked is what is excluded of one day, the minutes of each hour.
type blocked [hoursOfDay]set

// on is what is excluded of a day; all is whether that is the whole day.
func (x *exclusions) on(day civilDay, d date) (b blocked, all bool) {
	if x.days[day] {
		return b, true
	}
	for _, one := range x.expressions {
		if !one.onDay(d) {
			continue
		}
		for hour := range b {
			if one.hours.has(hour) {
				b[hour] |= one.minutes
			}
		}
	}
	return b, false
}
