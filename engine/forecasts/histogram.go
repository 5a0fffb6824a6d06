package forecasts

import (
	"slices"
	"sort"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// histogram is how many timers fall due in consecutive slots.
type histogram struct {
	at      wire.Instant
	overdue int
	slots   []forecast.Slot
	splits  int
	// untried is what visibility showed of each minute. The slots have the rings of rules as well,
	// and what was booked since. booked reports whether any was.
	untried []int
	booked  bool
	// whole is when all minutes were counted last. The count asked so many questions.
	whole     wire.Instant
	questions int
	// rung are the rings that follow from rules, in each second of a minute.
	rung map[wire.Instant][]int
	// recurring is how many timers have these rules. From uncounted on some of their rings are left out; 0 if all are
	// counted.
	recurring int
	uncounted wire.Instant
}

// clone returns a copy whose slots are its own.
func (h *histogram) clone() *histogram {
	clone := *h
	clone.slots = slices.Clone(h.slots)
	return &clone
}

// empty reports whether nothing is due.
func (h *histogram) empty() bool {
	return h.overdue == 0 && !slices.ContainsFunc(h.slots, func(s forecast.Slot) bool { return s.Due > 0 || s.Items > 0 })
}

// slot is the index of the slot of a moment; -1 if there is none.
func (h *histogram) slot(at wire.Instant) int {
	n := sort.Search(len(h.slots), func(n int) bool { return h.slots[n].End() > at })
	if n == len(h.slots) || at < h.slots[0].At {
		return -1
	}
	return n
}

// add counts one timer in, if there is a slot for it.
func (h *histogram) add(due wire.Instant) {
	if n := h.slot(due); n >= 0 {
		h.slots[n].Due++
	}
}

// book counts a timer in that visibility does not show yet.
func (h *histogram) book(due wire.Instant) {
	h.booked = true
	h.add(due)
}

// addRung counts a ring that follows from a rule, and is counted nowhere else.
func (h *histogram) addRung(due wire.Instant) {
	n := h.slot(due)
	if n < 0 {
		return
	}
	slot := &h.slots[n]
	slot.Due++
	if slot.Width != forecast.DefaultStep {
		return
	}
	if h.rung == nil {
		h.rung = map[wire.Instant][]int{}
	}
	if h.rung[slot.At] == nil {
		h.rung[slot.At] = make([]int, slot.Width/tuning.ForecastFine)
	}
	h.rung[slot.At][due.Time().Sub(slot.At.Time())/tuning.ForecastFine]++
}

// leaveOut records that rings from a moment on are not counted.
func (h *histogram) leaveOut(from wire.Instant) {
	if from != 0 && (h.uncounted == 0 || from < h.uncounted) {
		h.uncounted = from
	}
}

// crowded are the minutes with more due timers than a rate allows in one second, at most
// most of them: the fullest, and among equally full ones the next.
func (h *histogram) crowded(rate float64, most int) (minutes []forecast.Slot) {
	for _, slot := range h.slots {
		if rate > 0 && slot.Width == forecast.DefaultStep && float64(slot.Due) > max(rate, 1) {
			minutes = append(minutes, slot)
		}
	}
	slices.SortStableFunc(minutes, func(a, b forecast.Slot) int { return b.Due - a.Due })
	return minutes[:min(len(minutes), most)]
}

// refined is how many minutes are divided into seconds.
func (h *histogram) refined() (minutes int) {
	for _, slot := range h.slots {
		if slot.Width == tuning.ForecastFine && slot.At == minuteOf(slot.At) {
			minutes++
		}
	}
	return minutes
}

// replace divides a minute into the seconds of a count. The count lacks the rings of rules.
func (h *histogram) replace(minute forecast.Slot, seconds []forecast.Slot) {
	for i, rung := range h.rung[minute.At] {
		seconds[i].Due += rung
	}
	n := h.slot(minute.At)
	h.slots = slices.Concat(h.slots[:n], seconds, h.slots[n+1:])
}

// merge adds recent bookings that the count missed: visibility lags behind. In the minutes
// of these bookings it keeps at least the earlier count.
func (h *histogram) merge(before *histogram, booked []wire.Instant) {
	unseen := map[wire.Instant]int{}
	for _, due := range booked {
		unseen[minuteOf(due)]++
	}
	for minute, known := range unseen {
		if before != nil {
			known = max(known, before.within(minute))
		}
		unseen[minute] = known - h.within(minute)
	}
	for _, due := range booked {
		if minute := minuteOf(due); unseen[minute] > 0 {
			h.book(due)
			unseen[minute]--
		}
	}
}

func minuteOf(due wire.Instant) wire.Instant {
	return wire.At(due.Time().Truncate(forecast.DefaultStep))
}

// within is the number of timers due in a minute.
func (h *histogram) within(minute wire.Instant) (due int) {
	first := h.slot(minute)
	if first < 0 {
		return 0
	}
	for _, slot := range h.slots[first:] {
		if slot.At >= minute.Add(forecast.DefaultStep) {
			break
		}
		due += slot.Due
	}
	return due
}

// unsplit reports whether a minute has more due timers than a rate allows in one second,
// while their seconds are unknown.
func (h *histogram) unsplit(due wire.Instant, rate float64) bool {
	slot := h.slots[h.slot(due)]
	return slot.Width > tuning.ForecastFine && float64(slot.Due) > max(rate, 1) && h.splits < tuning.ForecastRefined
}

// split divides a minute into its seconds: bookings of this process at their due time, and
// the rest evenly.
func (h *histogram) split(at wire.Instant, booked []wire.Instant) {
	n := h.slot(at)
	minute := h.slots[n]
	seconds := make([]forecast.Slot, minute.Width/tuning.ForecastFine)
	for i := range seconds {
		seconds[i] = forecast.Slot{At: minute.At.Add(time.Duration(i) * tuning.ForecastFine), Width: tuning.ForecastFine, Items: minute.Items}
	}
	rest := minute.Due
	for _, due := range booked {
		if due >= minute.At && due < minute.End() && rest > 0 {
			seconds[due.Time().Sub(minute.At.Time())/tuning.ForecastFine].Due++
			rest--
		}
	}
	for i := range seconds {
		seconds[i].Due += rest*(i+1)/len(seconds) - rest*i/len(seconds)
	}
	h.slots = slices.Concat(h.slots[:n], seconds, h.slots[n+1:])
	h.splits++
	h.booked = true
}

// gap is the time from the end of the histogram to a moment, in few steps of whole minutes.
func (h *histogram) gap(to wire.Instant) Request {
	gap := Request{From: h.slots[len(h.slots)-1].End(), To: to, Step: forecast.DefaultStep}
	for gap.From.Add(forecast.MaxSteps*gap.Step) < to {
		gap.Step *= 2
	}
	return gap
}

// followedBy returns a histogram of the slots before those of another one, and of these.
func (h *histogram) followedBy(next *histogram) *histogram {
	from := next.slots[0].At
	joined := &histogram{at: h.at, overdue: h.overdue}
	for _, slot := range h.slots {
		if slot.At < from {
			joined.slots = append(joined.slots, slot.Until(from))
		}
	}
	joined.slots = append(joined.slots, next.slots...)
	joined.leaveOut(h.uncounted)
	joined.leaveOut(next.uncounted)
	return joined
}

// covers reports whether a request can be answered from the histogram.
func (h *histogram) covers(r Request) bool {
	first, last := h.slots[0], h.slots[len(h.slots)-1]
	return r.From >= first.At && r.To <= last.End() && r.Step%forecast.DefaultStep == 0
}
