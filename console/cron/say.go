package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/words"
)

// In says the times in the language of a page, as a part of a sentence.
func (t Times) In(s words.Speech) string {
	v := voice{s}
	said, order := v.at(t.At), "cron.order"
	if len(t.At) == 0 {
		said = v.pace(t.Pace)
		if t.Pace.Hours == nil {
			order = "cron.order.pace"
		}
	}
	switch days := v.days(t.Days); {
	case days != "":
		said = v.T(order, said, days)
	case len(t.At) > 0 || t.Pace.Hours != nil:
		said = v.T(order, said, v.T("cron.daily"))
	}
	if t.Months != nil {
		said = v.T("cron.months", said, v.list("cron.and", v.spans("cron.span", t.Months, v.named("month."))))
	}
	return said
}

// voice says the parts.
type voice struct{ words.Speech }

// list joins texts, the last two by a word.
func (v voice) list(last string, texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	end := len(texts) - 1
	return strings.Join(texts[:end], v.T("cron.comma")) + v.T(last) + texts[end]
}

// spans are the stretches of numbers.
func (v voice) spans(key string, numbers []int, say func(int) string) (texts []string) {
	for _, r := range runs(numbers) {
		if r.from == r.to {
			texts = append(texts, say(r.from))
		} else {
			texts = append(texts, v.T(key, say(r.from), say(r.to)))
		}
	}
	return texts
}

// named says a number by its name.
func (v voice) named(prefix string) func(int) string {
	return func(n int) string { return v.T(prefix + strconv.Itoa(n)) }
}

// numbers says some numbers, in a text for one or for several.
func (v voice) numbers(key string, numbers []int) string {
	if len(numbers) == 1 {
		if text := v.T(key+".one", strconv.Itoa(numbers[0])); text != key+".one" {
			return text
		}
	}
	return v.T(key, v.list("cron.and", v.spans("cron.run", numbers, strconv.Itoa)))
}

func (v voice) at(times []Clock) string {
	var texts []string
	for _, c := range times {
		text := fmt.Sprintf("%02d:%02d", c.Hour, c.Minute)
		if slices.ContainsFunc(times, func(c Clock) bool { return c.Second != 0 }) {
			text += fmt.Sprintf(":%02d", c.Second)
		}
		texts = append(texts, text)
	}
	return v.T("cron.at", v.list("cron.and", texts))
}

func (v voice) pace(p Pace) (said string) {
	switch {
	case p.EverySeconds > 0:
		said = v.hours(v.N("cron.seconds", p.EverySeconds), p.Hours)
	case p.EveryMinutes > 0:
		said = v.hours(v.N("cron.minutes", p.EveryMinutes), p.Hours)
	case p.Hours == nil:
		said = v.numbers("cron.minute", p.Minutes)
	default:
		said = v.T("cron.minute.of", v.numbers("cron.ofhour", p.Minutes), v.numbers("cron.hour", p.Hours))
	}
	if p.Seconds != nil {
		said = v.T("cron.second", said, v.numbers("cron.ofminute", p.Seconds))
	}
	return said
}

// hours adds the hours to what goes on through each of them.
func (v voice) hours(said string, hours []int) string {
	if hours == nil {
		return said
	}
	first, last := hours[0], hours[len(hours)-1]
	if last-first == len(hours)-1 {
		return v.T("cron.between", said, fmt.Sprintf("%02d:00", first), fmt.Sprintf("%02d:59", last))
	}
	return v.T("cron.within", said, v.list("cron.and", v.spans("cron.run", hours, strconv.Itoa)))
}

// workweek are the days from Monday to Friday.
var workweek = []int{1, 2, 3, 4, 5}

// days says on which days; "" for all.
func (v voice) days(d Days) string {
	if d.Both {
		return v.T("cron.both", v.numbers("cron.day", d.OfMonth), v.list("cron.or", v.weekdays(d.OfWeek)))
	}
	var parts []string
	if len(d.OfMonth) > 0 {
		parts = append(parts, v.numbers("cron.day", d.OfMonth))
	}
	for _, n := range d.Last {
		if n == 0 {
			parts = append(parts, v.T("cron.last"))
		} else {
			parts = append(parts, v.N("cron.before", n))
		}
	}
	if d.LastWorkday {
		parts = append(parts, v.T("cron.lastworkday"))
	}
	if slices.Equal(d.OfWeek, workweek) {
		parts = append(parts, v.T("cron.weekdays"))
	} else if len(d.OfWeek) > 0 {
		parts = append(parts, v.T("cron.weekly", v.list("cron.and", v.weekdays(d.OfWeek))))
	}
	for _, n := range d.Nth {
		parts = append(parts, v.T("nth."+strconv.Itoa(n.Week), v.named("weekday.")(n.Weekday)))
	}
	return strings.Join(parts, v.T("cron.also"))
}

// weekdays are the names of days of the week, Monday first.
func (v voice) weekdays(days []int) (names []string) {
	for day := 1; day <= daysOfWeek; day++ {
		if slices.Contains(days, day%daysOfWeek) {
			names = append(names, v.named("weekday.")(day%daysOfWeek))
		}
	}
	return names
}
