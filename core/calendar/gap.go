package calendar

import "time"

const (
	// gapFrom is the start of the search for the shortest gap. Zones have the rules of our time
	// there.
	gapFrom = millis(1_767_225_600_000) // 2026-01-01T00:00:00Z
	// gapSteps cover five years of a daily rule.
	gapSteps = 2000
	// shortestOfAll is a lower bound of the gap of any expression.
	shortestOfAll = time.Second
)

// ShortestGap returns the shortest time between two moments of the rule. It ignores exclusions.
//
//   - For a fixed rate, it is the step.
//   - For listed moments, it is the shortest gap.
//   - For cron expressions, it is the shortest of the next 2000 gaps, or of the gaps within the
//     given time. If 2000 gaps do not reach that far, it also covers any two times of day of the
//     rule, regardless of dates.
//
// If a rule rings once within the given time, the gap is that time. The gap is 0 for an invalid
// rule.
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
	return gapOf(read, openSearch(zone), within)
}

// gapOf is the shortest gap of expressions, found by the walks of a search.
func gapOf(read []expression, search *search, within time.Duration) time.Duration {
	shortest, complete := shortestGap(newMerged(read, search), within, gapSteps)
	if complete {
		return shortest
	}
	return min(shortest, gapOfDay(read))
}

// gapOfDay returns the shortest time between two times of day of expressions, across midnight too. It
// marks the seconds of a day. To walk through them took ten milliseconds, which a rule with ten
// expressions of seconds cost at each booking.
func gapOfDay(read []expression) time.Duration {
	var day [hoursOfDay * 60]set // the seconds of each minute
	for _, one := range read {
		for minute := range day {
			if one.hours.has(minute/60) && one.minutes.has(minute%60) {
				day[minute] |= one.seconds
			}
		}
	}
	first, last, shortest := -1, 0, daySeconds
	for minute, seconds := range day {
		for second, ok := seconds.least(); ok; second, ok = seconds.from(second + 1).least() {
			at := minute*minuteSeconds + second
			if first < 0 {
				first, last = at, at
				continue
			}
			shortest, last = min(shortest, at-last), at
		}
	}
	return time.Duration(min(shortest, first+daySeconds-last)) * time.Second
}

// shortestGap scans a series for the given time or number of steps. complete reports whether it
// scanned the whole time.
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
