package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/bench/scenario"
)

// notes are what a table has no column for.
func (r Result) notes() (notes []string) {
	for _, note := range []string{r.Outcome.Skipped, r.Outcome.Invalid, r.Outcome.Calls.Failure} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	if r.Plan.Kind == scenario.Pending && r.Outcome.Skipped == "" {
		notes = append(notes, "adds/s in each tenth of the way: "+strings.Join(numbers(r.AddRates()), " "), "MB when all were booked: "+r.memory())
	}
	return notes
}

// AddRates are the bookings a second in each tenth of the way.
func (r Result) AddRates() (rates []float64) {
	tenths := r.Outcome.Calls.Tenths
	var before time.Duration
	for _, at := range tenths {
		part := float64(r.Plan.Timers) / float64(len(tenths))
		rates, before = append(rates, part/(at-before).Seconds()), at
	}
	return rates
}

// memory is that of each program, those of one name together.
func (r Result) memory() string {
	parts := []string{}
	for _, program := range slices.Sorted(maps.Keys(r.Pending)) {
		parts = append(parts, fmt.Sprintf("%s %d", program, r.Pending[program]>>20))
	}
	return strings.Join(parts, ", ")
}

func numbers(values []float64) (texts []string) {
	for _, value := range values {
		texts = append(texts, number(value))
	}
	return texts
}
