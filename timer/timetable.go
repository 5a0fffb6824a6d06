package timer

import (
	"math"
	"time"
)

// series lists nominal times in order.
type series interface {
	// next is the first nominal time not before the given one; ok is false
	// when there is none within the bounds of the search.
	next(from Instant) (at Instant, ok bool)
}

// timetable is the series of a recurrence between its bounds.
type timetable struct {
	series
	from, to Instant
}

func (t timetable) next(from Instant) (Instant, bool) {
	at, ok := t.series.next(max(from, t.from))
	return at, ok && at <= t.to
}

// timetable reads the recurrence. The first moment of a fixed rate or delay is
// anchor; nothing comes before from.
func (r Recurrence) timetable(anchor, from Instant) (timetable, error) {
	zone, err := r.zone()
	if err != nil {
		return timetable{}, err
	}
	exclude := &exclusions{days: map[civilDay]bool{}}
	for _, text := range r.Exclude {
		if err := exclude.add(text); err != nil {
			return timetable{}, err
		}
	}
	t := timetable{from: from, to: Instant(lastSecond * 1000)}
	if r.EndAt != 0 {
		t.to = r.EndAt
	}
	t.series, err = r.series(anchor, zone, exclude)
	return t, err
}

func (r Recurrence) series(anchor Instant, zone *time.Location, exclude *exclusions) (series, error) {
	step := r.Every
	if r.After != nil {
		step = r.After
	}
	if step != nil {
		if r.Offset != nil {
			anchor = Instant(r.Offset.D().Milliseconds())
		}
		return newGrid(anchor, step.D(), zone, exclude), nil
	}
	rules, err := r.rules()
	return newMerged(rules, zone, exclude), err
}

// rules are the cron expressions, read.
func (r Recurrence) rules() (rules []cronRule, err error) {
	texts, _ := r.expressions()
	for _, text := range texts {
		rule, err := parseCron(text, r.Seconds)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// cronSeries is a walk in instants.
type cronSeries struct{ walk *cronWalk }

func (s cronSeries) next(from Instant) (Instant, bool) {
	at, ok := s.walk.next(int64(from+999) / 1000)
	return Instant(at * 1000), ok
}

// merged rings whenever one of several series does.
type merged []*ahead

// ahead remembers the next moment of a series, so that a rare one is not
// searched for again with every step of a frequent one.
type ahead struct {
	series
	asked, at Instant
	ok, known bool
}

func (a *ahead) next(from Instant) (Instant, bool) {
	if !a.known || from < a.asked || a.ok && from > a.at {
		a.at, a.ok = a.series.next(from)
		a.asked, a.known = from, true
	}
	return a.at, a.ok
}

func newMerged(rules []cronRule, zone *time.Location, exclude *exclusions) (m merged) {
	for _, rule := range rules {
		m = append(m, &ahead{series: cronSeries{&cronWalk{rule: rule, zone: zone, exclude: exclude}}})
	}
	return m
}

func (m merged) next(from Instant) (Instant, bool) {
	first := Instant(math.MaxInt64)
	for _, one := range m {
		if at, ok := one.next(from); ok {
			first = min(first, at)
		}
	}
	return first, first != math.MaxInt64
}

// grid is a fixed step from an anchor, without what is excluded.
type grid struct {
	anchor, step Instant
	// open lists the seconds that are not excluded; nil when nothing is.
	open *cronWalk
}

func newGrid(anchor Instant, step time.Duration, zone *time.Location, exclude *exclusions) grid {
	g := grid{anchor: anchor, step: Instant(step.Milliseconds())}
	if !exclude.empty() {
		g.open = &cronWalk{rule: everySecond, zone: zone, exclude: exclude}
	}
	return g
}

// everySecond matches whatever a clock shows. Its sets hold more than there is.
var everySecond = cronRule{
	seconds: all, minutes: all, hours: all, days: all, months: all, weekdays: all, follows: true,
}

// maxGridSteps bounds how many moments of a grid may be excluded in a row,
// stretches without an open minute counting once.
const maxGridSteps = 20_000

func (g grid) next(from Instant) (Instant, bool) {
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
		from = Instant(open * 1000)
	}
	return 0, false
}

// notBefore is the first moment of the grid that is not before the given one.
func (g grid) notBefore(from Instant) Instant {
	if from <= g.anchor {
		return g.anchor
	}
	steps := (from - g.anchor + g.step - 1) / g.step
	return g.anchor + steps*g.step
}
