package calendar

import (
	"slices"
	"time"
)

// moments is a series of listed moments.
type moments struct {
	sorted []millis
	// open lists the seconds that are not excluded; nil when nothing is.
	open *walk
}

func newMoments(r Rule, search *search) moments {
	m := moments{sorted: sortedMillis(r.Moments)}
	if !search.exclude.empty() {
		m.open = &walk{expression: everySecond, search: search}
	}
	return m
}

func sortedMillis(times []time.Time) (sorted []millis) {
	for _, at := range times {
		sorted = append(sorted, millisOf(at))
	}
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func (m moments) next(from millis) (millis, bool) {
	first, _ := slices.BinarySearch(m.sorted, from)
	for _, at := range m.sorted[first:] {
		if m.open == nil || m.open.shows(int64(at)/1000) {
			return at, true
		}
	}
	return 0, false
}

// gapOfMoments returns the shortest time between two of them.
func gapOfMoments(times []time.Time, within time.Duration) time.Duration {
	sorted := sortedMillis(times)
	for i := range len(sorted) - 1 {
		within = min(within, time.Duration(sorted[i+1]-sorted[i])*time.Millisecond)
	}
	return within
}
