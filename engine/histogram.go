package engine

import (
	"sort"

	"github.com/wakecall/wakecall/timer"
)

// histogram is how many timers fall due in slots that follow one another.
type histogram struct {
	at      timer.Instant
	overdue int
	slots   []timer.ForecastSlot
}

func (h *histogram) clone() *histogram {
	return &histogram{at: h.at, overdue: h.overdue, slots: append([]timer.ForecastSlot{}, h.slots...)}
}

// slot is the index of the slot of a moment; -1 where there is none.
func (h *histogram) slot(at timer.Instant) int {
	n := sort.Search(len(h.slots), func(n int) bool { return h.slots[n].End() > at })
	if n == len(h.slots) || at < h.slots[0].At {
		return -1
	}
	return n
}

// add counts one timer in, where there is a slot for it.
func (h *histogram) add(due timer.Instant) {
	if n := h.slot(due); n >= 0 {
		h.slots[n].Due++
	}
}

// covers is whether a request can be answered from the histogram.
func (h *histogram) covers(r ForecastRequest) bool {
	first, last := h.slots[0], h.slots[len(h.slots)-1]
	return r.From >= first.At && r.To <= last.End() && r.Step%timer.DefaultForecastStep == 0
}
