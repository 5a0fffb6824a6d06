package calendar

import (
	"math"
	"time"
)

// searchYears bounds the search for the next match. The rarest rule, a 29th of
// February that must be a Sunday, leaves out 40 years around 2100.
const searchYears = 41

const (
	searchSeconds = searchYears * 366 * daySeconds
	// searchSteps bounds the days and the spans of equal offset in one search. It does not trust
	// a zone's data or the library to bound the spans.
	searchSteps = searchYears*366 + 100*searchYears
)

const quarterSeconds = 15 * minuteSeconds

// lastSecond is the last moment of the calendar: the end of the year 9999.
const lastSecond = 253402300799

// walk lists the moments of one rule in one zone, in order.
type walk struct {
	expression expression
	*search

	span span
	today
	steps int // of the current search
}

// search is the state that the walks of one schedule share.
type search struct {
	zone    *time.Location
	exclude *exclusions
	// to is the last second of the search.
	to int64
	// left is the number of steps left for all walks together.
	left int
}

// openSearch returns a search without bounds.
func openSearch(zone *time.Location) *search {
	return &search{zone: zone, exclude: newExclusions(), to: lastSecond, left: math.MaxInt}
}

// step reports whether one more step may be taken.
func (s *search) step() bool {
	s.left--
	return !s.spent()
}

// spent reports whether a search ended for want of steps.
func (s *search) spent() bool { return s.left < 0 }

// step reports whether the walk may take one more step: a day, or a span.
func (w *walk) step() bool {
	w.steps++
	return w.search.step() && w.steps <= searchSteps
}

// today is the current day of the walk, computed once.
type today struct {
	day     civilDay
	date    date
	blocked *blocked
	off     bool // nothing rings on this day
	known   bool
}

// span is a stretch of time with one offset of a zone, in Unix seconds; end is exclusive.
type span struct {
	start, end int64
	offset     int64
	before     int64 // the offset just before the span
}

func spanAt(second int64, zone *time.Location) span {
	at := time.Unix(second, 0).In(zone)
	_, offset := at.Zone()
	s := span{start: math.MinInt64 / 2, end: math.MaxInt64 / 2, offset: int64(offset), before: int64(offset)}
	start, end := at.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-1).Zone()
		s.start, s.before = start.Unix(), int64(before)
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	if s.end <= second {
		// Go 1.26 ends every year of a zone's standing rule after 365 days: on the last day of a
		// leap year that end has passed (golang/go#81583). The offset is right, and no clock
		// changes between two quarters of an hour.
		s.end = second - second%quarterSeconds + quarterSeconds
	}
	return s
}

// next returns the first second, from the given one on, at which the rule rings. ok is false if
// there is none within the bounds of the search.
func (w *walk) next(second int64) (at int64, ok bool) {
	horizon := min(second+searchSeconds, w.to)
	for w.steps = 0; second <= horizon && w.step(); {
		if second < w.span.start || second >= w.span.end {
			w.span = spanAt(second, w.zone)
		}
		s := w.span
		until := min(s.end, horizon+1)
		if c, found := w.match(s.from(second, w.expression.follows), civil(until+s.offset)); found {
			// A skipped civil time rings at the moment after the skip.
			return max(int64(c)-s.offset, s.start), true
		}
		second = until
	}
	return 0, false
}

// from returns the civil time to match from, for a second of the span.
//
// A rule of times of the day sees every civil time once: skipped times belong to the span after
// the skip, and repeated times are left out. A rule that follows the clock sees the times on the
// clock.
func (s span) from(second int64, follows bool) civil {
	first := s.start + s.before
	if follows {
		first = s.start + s.offset
	}
	if second <= s.start {
		return civil(first)
	}
	return civil(max(first, second+s.offset))
}

// match returns the first civil time in [from, until) that the rule matches and no exclusion
// covers.
func (w *walk) match(from, until civil) (c civil, ok bool) {
	for day := from.day(); day.start() < until && w.step(); {
		w.turnTo(day)
		if !w.expression.months.has(w.date.month) {
			day += w.date.rest
			continue
		}
		if !w.off {
			if c, ok = w.within(max(from, day.start())); ok {
				return c, c < until
			}
		}
		day++
	}
	return 0, false
}

func (w *walk) turnTo(day civilDay) {
	if w.known && w.day == day {
		return
	}
	w.today = today{day: day, date: day.date(), known: true}
	w.off = !w.expression.onDay(w.date)
	if !w.off {
		w.blocked = w.exclude.on(day, w.date)
		w.off = w.blocked.all
	}
}

// within returns the first match on the current day of the walk, from a time on.
func (w *walk) within(from civil) (c civil, ok bool) {
	time := int(from - w.day.start())
	hour, minute, second := time/hourSeconds, time/minuteSeconds%60, time%60
	if minutes := w.minutes(hour); minutes.has(minute) {
		if s, ok := w.expression.seconds.from(second).least(); ok {
			return w.at(hour, minute, s), true
		}
	}
	minute++
	for hours := w.expression.hours.from(hour); hours != 0; {
		h, _ := hours.least()
		minutes := w.minutes(h)
		if h == hour {
			minutes = minutes.from(minute)
		}
		if m, ok := minutes.least(); ok {
			s, ok := w.expression.seconds.least()
			return w.at(h, m, s), ok
		}
		hours = hours.from(h + 1)
	}
	return 0, false
}

// minutes returns the minutes of an hour that the rule matches and no exclusion covers.
func (w *walk) minutes(hour int) set {
	if !w.expression.hours.has(hour) {
		return 0
	}
	return w.expression.minutes &^ w.blocked.minutes[hour]
}

// shows reports whether the rule matches the time on the clock at a second.
func (w *walk) shows(second int64) bool {
	shown := civil(second + spanAt(second, w.zone).offset)
	w.turnTo(shown.day())
	time := int(shown - w.day.start())
	return !w.off && w.minutes(time/hourSeconds).has(time/minuteSeconds%60)
}

func (w *walk) at(hour, minute, second int) civil {
	return w.day.start() + civil(hour*hourSeconds+minute*minuteSeconds+second)
}
