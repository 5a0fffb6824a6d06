package cron

import (
	"slices"
	"strings"
)

// Times are the moments of an expression, in the parts that a sentence has.
type Times struct {
	// At lists times of the day. If it is empty, Pace has the times.
	At   []Clock
	Pace Pace
	Days Days
	// Months are 1 to 12; nil for all.
	Months []int
}

// Clock is a time of the day.
type Clock struct{ Hour, Minute, Second int }

// Pace are times that come again each hour.
type Pace struct {
	// EverySeconds is the step through each minute, and EveryMinutes that through each hour, both from 0
	// on and without a rest; 0 for none.
	EverySeconds, EveryMinutes int
	// Minutes are minutes of each hour, if there is no step.
	Minutes []int
	// Seconds are seconds of each such minute; nil for 0 alone.
	Seconds []int
	// Hours are hours of the day; nil for all.
	Hours []int
}

// Read reads an expression; ok is false for one that cannot be said exactly in a few words, or is none.
func Read(text string, form Form) (t Times, ok bool) {
	columns, ok := columnsOf(text, form)
	if !ok {
		return Times{}, false
	}
	var read [allColumns][]int
	for _, column := range []int{secondColumn, minuteColumn, hourColumn, monthColumn} {
		if form.Dialect == quartz && strings.HasPrefix(columns[column], "/") {
			columns[column] = "*" + columns[column]
		}
		if read[column], ok = fieldOf(column, form).read(columns[column]); !ok {
			return Times{}, false
		}
	}
	if t.Days, ok = readDays(columns, form); !ok || len(runs(t.Days.OfMonth)) > mostDays {
		return Times{}, false
	}
	if len(read[monthColumn]) < monthsOfYear {
		t.Months = read[monthColumn]
	}
	ok = t.within(read[hourColumn], read[minuteColumn], read[secondColumn])
	return t, ok
}

// within adds the times of the day.
func (t *Times) within(hours, minutes, seconds []int) (ok bool) {
	if len(hours)*len(minutes)*len(seconds) <= mostTimes {
		t.At = clocks(hours, minutes, seconds)
		return true
	}
	t.Pace, ok = paceOf(minutes, seconds)
	if len(hours) < hoursOfDay {
		t.Pace.Hours = hours
	}
	return ok
}

func clocks(hours, minutes, seconds []int) (all []Clock) {
	for _, hour := range hours {
		for _, minute := range minutes {
			for _, second := range seconds {
				all = append(all, Clock{hour, minute, second})
			}
		}
	}
	return all
}

func paceOf(minutes, seconds []int) (p Pace, ok bool) {
	if step := stepOf(seconds, inMinute); step > 0 && len(minutes) == inHour {
		return Pace{EverySeconds: step}, true
	}
	if !slices.Equal(seconds, []int{0}) {
		p.Seconds = seconds
	}
	if p.EveryMinutes = stepOf(minutes, inHour); p.EveryMinutes == 0 {
		p.Minutes = minutes
	}
	return p, len(p.Seconds) <= mostSeconds && len(runs(p.Minutes)) <= mostItems
}

// stepOf is the step of numbers from 0 on that come again after the given number of them; 0 if they
// have none, or are one number.
func stepOf(numbers []int, of int) int {
	if len(numbers) < 2 || of%len(numbers) != 0 {
		return 0
	}
	step := of / len(numbers)
	for i, n := range numbers {
		if n != i*step {
			return 0
		}
	}
	return step
}

// run is a stretch of numbers without a gap.
type run struct{ from, to int }

// runs are the stretches of numbers in order. A short one is told apart.
func runs(numbers []int) (all []run) {
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if end-i+1 < longRun {
			end = i
		}
		all = append(all, run{numbers[i], numbers[end]})
		i = end + 1
	}
	return all
}
