package timer

import "time"

const (
	// intervalFrom is where the shortest interval is looked for. Zones have
	// the rules of our time there.
	intervalFrom = Instant(1_767_225_600_000) // 2026-01-01T00:00:00Z
	// intervalSteps reach over five years of a daily rule.
	intervalSteps = 2000
)

// MinInterval is the shortest time between two nominal times, exclusions left
// aside. For cron expressions it is the shortest of the next 2000 or ten years;
// for rules that ring more often than that, also of any two times of day that
// they name, whatever the dates. A rule that rings once in ten years has an
// interval of MaxAhead. The recurrence must have passed Check.
func (r Recurrence) MinInterval() time.Duration {
	switch {
	case r.Every != nil:
		return r.Every.D()
	case r.After != nil:
		return r.After.D()
	}
	zone, err := r.zone()
	if err != nil {
		return 0
	}
	rules, err := r.rules()
	if err != nil {
		return 0
	}
	shortest, complete := shortestGap(newMerged(rules, zone, &exclusions{}), MaxAhead, intervalSteps)
	if complete {
		return shortest
	}
	for i := range rules {
		rules[i].days, rules[i].months, rules[i].weekdays = all, all, all
	}
	ofDay, _ := shortestGap(newMerged(rules, time.UTC, &exclusions{}), daySeconds*time.Second, daySeconds)
	return min(shortest, ofDay)
}

// shortestGap looks at a series for as long as given, or for a number of
// steps; complete is whether that was the whole time.
func shortestGap(s series, within time.Duration, steps int) (shortest time.Duration, complete bool) {
	last, ok := s.next(intervalFrom)
	shortest, until := within, last.Add(within)
	for range steps {
		if !ok || last > until || shortest == MinInterval {
			return shortest, true
		}
		var at Instant
		at, ok = s.next(last + 1)
		if ok {
			shortest = min(shortest, at.Time().Sub(last.Time()))
		}
		last = at
	}
	return shortest, false
}
