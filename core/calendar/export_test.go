package calendar

import "time"

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
