package calendar

import "time"

const (
	// gapFrom is where the shortest gap is looked for. Zones have the rules of our
	// time there.
	gapFrom = millis(1_767_225_600_000) // 2026-01-01T00:00:00Z
	// gapSteps reach over five years of a daily rule.
	gapSteps = 2000
	// shortestOfAll is the gap that no expression can go below.
	shortestOfAll = time.Second
)

// ShortestGap is the shortest time between two moments of the rule, exclusions left
// aside: the step of a fixed rate, and the shortest gap of listed moments. For cron expressions it is the shortest of the next
// 2000 gaps, or of those that lie within the given time; where 2000 do not reach that
// far, it is also the shortest between any two times of day that the rule names,
// whatever the dates. A rule that rings once within the given time has a gap of that
// length. It is 0 for a rule that cannot be read.
func (r Rule) ShortestGap(within time.Duration) time.Duration {
	if r.Every != 0 {
		return r.Every
	}
	if len(r.Moments) > 0 {
		return gapOfMoments(r.Moments, within)
	}
	zone, err := zoneOf(r.Timezone)
	if err != nil {
		return 0
	}
	read, err := r.expressions()
	if err != nil {
		return 0
	}
	shortest, complete := shortestGap(newMerged(read, openSearch(zone)), within, gapSteps)
	if complete {
		return shortest
	}
	for i := range read {
		read[i].days, read[i].months, read[i].weekdays = all, all, all // the special ones are among them
	}
	ofDay, _ := shortestGap(newMerged(read, openSearch(time.UTC)), daySeconds*time.Second, daySeconds)
	return min(shortest, ofDay)
}

// shortestGap looks at a series for as long as given, or for a number of steps;
// complete reports whether that was the whole time.
func shortestGap(s series, within time.Duration, steps int) (shortest time.Duration, complete bool) {
	last, ok := s.next(gapFrom)
	shortest, until := within, last+millis(within.Milliseconds())
	for range steps {
		if !ok || last > until || shortest == shortestOfAll {
			return shortest, true
		}
		var at millis
		at, ok = s.next(last + 1)
		if ok {
			shortest = min(shortest, time.Duration(at-last)*time.Millisecond)
		}
		last = at
	}
	return shortest, false
}
