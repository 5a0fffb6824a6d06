package scenario

import (
	"time"

	"github.com/wakecall/wakecall/bench/receiver"
)

// early is how much before its due time a ring counts as early: clocks are read in whole
// milliseconds.
const early = time.Millisecond

// Outcome is the receiver's view of a booking.
type Outcome struct {
	Skipped string `json:"skipped,omitempty"`
	// Expected is the required number of rings.
	Expected int `json:"expected"`
	// Lateness of each first ring; negative before the due time.
	Lateness []time.Duration `json:"-"`
	// ByTenth is the lateness of the timers due in each of Calls.Tenths.
	ByTenth [][]time.Duration `json:"-"`
	Early   int               `json:"early"`
	// Duplicates are the rings after the first one, Lost are missing rings, and Wrong are
	// rings of cancelled or unbooked timers.
	Duplicates int `json:"duplicates"`
	Lost       int `json:"lost"`
	Wrong      int `json:"wrong"`
	// Drain is the time from the first due time to the last ring.
	Drain time.Duration `json:"drain"`
	Calls Calls         `json:"-"`
	// Invalid is why the figures of this run are meaningless.
	Invalid string `json:"invalid,omitempty"`
}

// occurrence rings once: it is a timer, or one due time of a recurring one.
type occurrence struct {
	id  string
	due int64 // in Unix milliseconds, 0 for a timer that rings once
}

// Judge compares the rings with the booking.
func Judge(booking Booking, rings []receiver.Ring) Outcome {
	j := judge{Booking: booking, expected: booking.occurrences(), rung: map[occurrence]bool{}, free: map[string]bool{}}
	j.out = Outcome{Skipped: booking.Skipped, Calls: booking.Calls, Expected: len(j.expected)}
	j.out.ByTenth = make([][]time.Duration, len(booking.Calls.Tenths))
	if booking.Late > 0 {
		j.out.Invalid = "timers were due before all were booked"
	}
	for _, timer := range booking.Free {
		j.free[timer.ID] = true
	}
	for _, ring := range rings {
		j.judgeRing(ring)
	}
	j.out.Lost, j.out.Drain = len(j.expected)-len(j.rung), j.last.Sub(j.first)
	return j.out
}

// judge is the state of a judgement.
type judge struct {
	Booking
	expected    map[occurrence]time.Time
	rung        map[occurrence]bool
	free        map[string]bool
	first, last time.Time
	out         Outcome
}

// judgeRing judges one ring.
func (j *judge) judgeRing(ring receiver.Ring) {
	one := j.occurrenceOf(ring)
	due, known := j.expected[one]
	switch {
	case known && j.rung[one]:
		j.out.Duplicates++
	case known:
		j.rung[one] = true
		j.inTime(ring.At, due)
	case !j.free[ring.ID] && j.within(ring):
		j.out.Wrong++
	}
}

func (j *judge) inTime(at, due time.Time) {
	j.out.Lateness = append(j.out.Lateness, at.Sub(due))
	for i, tenth := range j.Calls.Tenths {
		if !due.Before(tenth.Begin) && due.Before(tenth.End) {
			j.out.ByTenth[i] = append(j.out.ByTenth[i], at.Sub(due))
		}
	}
	if due.Sub(at) > early {
		j.out.Early++
	}
	if j.first.IsZero() || due.Before(j.first) {
		j.first = due
	}
	if at.After(j.last) {
		j.last = at
	}
}

// occurrences are all required rings, each with its due time.
func (b Booking) occurrences() map[occurrence]time.Time {
	expected := map[occurrence]time.Time{}
	for _, timer := range b.Expected {
		if b.Every == 0 {
			expected[occurrence{id: timer.ID}] = timer.Due
			continue
		}
		for due := b.From; due.Before(b.Until); due = due.Add(b.Every) {
			expected[occurrence{id: timer.ID, due: due.UnixMilli()}] = due
		}
	}
	return expected
}

func (b Booking) occurrenceOf(ring receiver.Ring) occurrence {
	if b.Every == 0 {
		return occurrence{id: ring.ID}
	}
	return occurrence{id: ring.ID, due: ring.Due.UnixMilli()}
}

// within leaves out the rings of recurring timers before and after the measured time.
func (b Booking) within(ring receiver.Ring) bool {
	return b.Every == 0 || !ring.Due.Before(b.From) && ring.Due.Before(b.Until)
}
