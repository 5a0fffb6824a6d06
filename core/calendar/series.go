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
}

func newGrid(r Rule, search *search) (grid, error) {
	if r.Every < time.Millisecond {
		return grid{}, errStep
	}
	g := grid{anchor: millisOf(r.Anchor), step: millis(r.Every.Milliseconds())}
	if !search.exclude.empty() {
		g.open = &walk{expression: everySecond, search: search}
	}
	return g, nil
}

// everySecond matches every second. Its sets hold more than there is.
var everySecond = expression{
	seconds: all, minutes: all, hours: all, days: all, months: all, weekdays: all, follows: true,
}

// maxGridSteps bounds the excluded moments of a grid in a row. A stretch without an open minute
// counts once.
const maxGridSteps = 20_000

func (g grid) next(from millis) (millis, bool) {
	for range maxGridSteps {
		at := g.notBefore(from)
		if g.open == nil || at > lastSecond*1000 {
			return at, at <= lastSecond*1000
		}
		second := int64(at) / 1000
		open, ok := g.open.next(second)
		if !ok || open == second {
			return at, ok
		}
		from = millis(open * 1000)
	}
	return 0, false
}

// notBefore returns the first moment of the grid not before the given one.
func (g grid) notBefore(from millis) millis {
	if from <= g.anchor {
		return g.anchor
	}
	steps := (from - g.anchor + g.step - 1) / g.step
	return g.anchor + steps*g.step
}
