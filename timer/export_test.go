package timer

import "time"

// SearchSteps is the bound of a search.
const SearchSteps = searchSteps

// StepsOf is how many steps the search for the next match of an expression
// takes; ok is false when the expression cannot be read.
func StepsOf(expression string, seconds bool, zone *time.Location, from Instant) (steps int, ok bool) {
	rule, err := parseCron(expression, seconds)
	if err != nil {
		return 0, false
	}
	walk := cronWalk{rule: rule, zone: zone, exclude: &exclusions{}}
	walk.next(int64(from) / 1000)
	return walk.steps, true
}
