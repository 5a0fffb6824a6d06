package calendar

import (
	"math"
	"time"
)

// series lists moments in order.
type series interface {
	// next returns the first moment not before the given one; ok is false if there is none
	// within the bounds of the search.
	next(from millis) (at millis, ok bool)
}

// cronSeries is a walk in milliseconds.
type cronSeries struct{ walk *walk }

func (s cronSeries) next(from millis) (millis, bool) {
	at, ok := s.walk.next(int64(from+999) / 1000)
	return millis(at * 1000), ok
}

// merged rings whenever one of several series does.
type merged []*ahead

// ahead caches the next moment of a series. Otherwise every step of a frequent series would
// search for a rare one again.
type ahead struct {
	series
	asked, at millis
	ok, known bool
}

func (a *ahead) next(from millis) (millis, bool) {
	if !a.known || from < a.asked || a.ok && from > a.at {
		a.at, a.ok = a.series.next(from)
		a.asked, a.known = from, true
	}
	return a.at, a.ok
}

func newMerged(expressions []expression, search *search) (m merged) {
	for _, one := range expressions {
		m = append(m, &ahead{series: cronSeries{&walk{expression: one, search: search}}})
	}
	return m
}

func (m merged) next(from millis) (millis, bool) {
	first := millis(math.MaxInt64)
	for _, one := range m {
		if at, ok := one.next(from); ok {
			first = min(first, at)
		}
	}
	return first, first != math.MaxInt64
}

// grid is a fixed rate from an anchor, without what is excluded.
type grid struct {
	anchor, step millis
	// open lists the seconds that are not excluded; nil when nothing is.
	open *walk
	// missed caches whether the moments of a day are all excluded. Days repeat themselves.
	missed map[dayOfGrid]bool
}

// dayOfGrid is what decides whether a day without a change of the clock has an open moment of a grid.
type dayOfGrid struct {
	blocked blocked
	// first is when the first moment of the grid comes after midnight.
	first millis
}

func newGrid(r Rule, search *search) (grid, error) {
	if r.Every < time.Millisecond {
		return grid{}, errStep
	}
	g := grid{anchor: millisOf(r.Anchor), step: millis(r.Every.Milliseconds())}
	if !search.exclude.empty() {
		g.open = &walk{expression: everySecond, search: search}
		g.missed = map[dayOfGrid]bool{}
	}
	return g, nil
}

// everySecond matches every second. Its sets hold more than there is.
var everySecond = expression{
	seconds: all, minutes: all, hours: all, days: all, months: all, weekdays: all, follows: true,
}

// next goes from open second to open second, and over each day that the grid misses. It searches as long
// as a walk does.
func (g grid) next(from millis) (millis, bool) {
	at := g.notBefore(from)
	horizon := min(at+searchSeconds*1000, lastSecond*1000)
	for ; at <= horizon; at = g.notBefore(from) {
		if g.open == nil {
			return at, true
		}
		second := int64(at) / 1000
		open, ok := g.open.next(second)
		if !ok || open == second {
			return at, ok
		}
		from = millis(open * 1000)
		if start := int64(g.open.day.start()) - g.open.span.offset; g.misses(start) {
			from = millis((start + daySeconds) * 1000)
		}
	}
	return at, false
}

// misses reports whether the whole day of the walk has no open moment of the grid. start is its first
// second. It is false for a day with a change of the clock.
func (g grid) misses(start int64) bool {
	if start < g.open.span.start || start+daySeconds > g.open.span.end {
		return false
	}
	midnight := millis(start * 1000)
	day := dayOfGrid{*g.open.blocked, g.notBefore(midnight) - midnight}
	missed, known := g.missed[day]
	if !known {
		missed = true
		for at := day.first; missed && at < daySeconds*1000; at += g.step {
			minute := int(at / (minuteSeconds * 1000))
			missed = day.blocked.minutes[minute/60].has(minute % 60)
		}
		g.missed[day] = missed
	}
	return missed
}

// notBefore returns the first moment of the grid not before the given one.
func (g grid) notBefore(from millis) millis {
	if from <= g.anchor {
		return g.anchor
	}
	steps := (from - g.anchor + g.step - 1) / g.step
	return g.anchor + steps*g.step
}
