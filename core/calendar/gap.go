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
	shortest, complete := shortestGap(newMerged(read, openSearch(zone)), within, gapSteps)
	if complete {
		return shortest
	}
	for i := range read {
		read[i].days, read[i].months, read[i].weekdays = all, all, all // includes the special days
	}
	ofDay, _ := shortestGap(newMerged(read, openSearch(time.UTC)), daySeconds*time.Second, daySeconds)
	return min(shortest, ofDay)
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
