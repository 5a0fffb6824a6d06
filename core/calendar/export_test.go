package calendar

import (
	"math"
	"time"
)

// SearchSteps is the bound of a search.
const SearchSteps = searchSteps

// StepsOf returns how many steps the search for the next match of an expression takes; ok is
// false if the expression is invalid.
func StepsOf(text string, form Form, zone *time.Location, from time.Time) (steps int, ok bool) {
	read, err := parse(text, form)
	if err != nil {
		return 0, false
	}
	w := walk{expression: read, search: openSearch(zone)}
	w.next(from.Unix())
	return w.steps, true
}

// GapSteps returns how many steps the search for the shortest gap of a valid rule takes.
func GapSteps(rule Rule, within time.Duration) int {
	read, err := rule.expressions()
	if err != nil {
		return 0
	}
	search := openSearch(time.UTC)
	gapOf(read, search, within)
	return math.MaxInt - search.left
}

// GapOfDay returns the shortest gap between times of day, and the same by a walk through a day.
func GapOfDay(rule Rule) (marked, walked time.Duration) {
	read, err := rule.expressions()
	if err != nil {
		return 0, 0
	}
	marked = gapOfDay(read)
	for i := range read {
		read[i].days, read[i].months, read[i].weekdays = all, all, all
	}
	walked, _ = shortestGap(newMerged(read, openSearch(time.UTC)), daySeconds*time.Second, daySeconds)
	return marked, walked
}
