package forecast

import (
	"math"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// HeaderExpectedLateness is a header of the answer to a booking. It gives the probable lateness
// of the timer, given the other callbacks due before it.
const HeaderExpectedLateness = "Wakecall-Expected-Lateness"

// Forecast counts the timers of a business type that fall due in the time ahead.
type Forecast struct {
	BusinessType string       `json:"business_type"`
	CountedAt    wire.Instant `json:"counted_at"`
	// CallbacksPerSecond is the rate in force; nil for no limit.
	CallbacksPerSecond *float64 `json:"callbacks_per_second,omitempty"`
	// Overdue counts the open timers that fell due within the last day. They go first.
	Overdue int `json:"overdue"`
	// UncountedFrom is since when some rings of recurring timers are left out; zero if none are. There
	// are too many to compute.
	UncountedFrom wire.Instant  `json:"uncounted_from,omitzero"`
	Step          wire.Duration `json:"step"`
	Steps         []Step        `json:"steps"`
}

// Step is one step of a forecast, from At on.
type Step struct {
	At  wire.Instant `json:"at"`
	Due int          `json:"due"`
	// DispatchItems counts the items that dispatches of the type send in it.
	DispatchItems int `json:"dispatch_items,omitzero"`
	// Overflows reports whether its callbacks, with the backlog, exceed the limit.
	Overflows bool `json:"overflows,omitzero"`
	// Lateness is the lateness of its last timer, in whole seconds.
	Lateness wire.Duration `json:"lateness,omitzero"`
}

// Slot is a stretch of time, with the number of timers that fall due in it.
type Slot struct {
	At    wire.Instant
	Width time.Duration
	Due   int
	// Items is the average of the items a second that dispatches would send in it, each as if it were
	// the only one. What is more than their share is sent later.
	Items float64
}

// End returns the first moment after the slot.
func (s Slot) End() wire.Instant { return s.At.Add(s.Width) }

// Until returns the part of the slot before a moment within it, with its part of the timers.
func (s Slot) Until(end wire.Instant) Slot {
	width := min(s.Width, end.Time().Sub(s.At.Time()))
	s.Due = int(math.Round(float64(s.Due) * width.Seconds() / s.Width.Seconds()))
	s.Width = width
	return s
}

// Backlog counts the callbacks that wait over consecutive slots, at Rate a second less the share
// of dispatches. It assumes that timers of one slot are spread evenly over it.
type Backlog struct {
	Rate    float64
	Waiting float64
	// Unsent counts the items that dispatches have not sent, since together they had their share.
	Unsent float64
	// Now is the start of the count.
	Now wire.Instant
}

// Pass advances over a slot, and returns the lateness of its last timer and the items that
// dispatches send in it.
func (b *Backlog) Pass(slot Slot) (late time.Duration, items float64) {
	seconds := slot.End().Time().Sub(max(slot.At, b.Now).Time()).Seconds()
	if b.Rate <= 0 || seconds <= 0 {
		return 0, 0
	}
	wanted := b.Unsent + slot.Items*slot.Width.Seconds()
	items = min(wanted, policy.DispatchShare(b.Rate)*seconds)
	b.Unsent = wanted - items
	before, rate := b.Waiting, b.Rate-items/seconds
	b.Waiting = max(before+float64(slot.Due)-rate*seconds, 0)
	if slot.Due > 0 {
		late = wire.Estimate(max(before, b.Waiting), rate).Truncate(time.Second)
	}
	return late, items
}

// Divide sums slots up to steps, with the lateness by the rate. The slots are consecutive, and
// no step ends within one.
func (f *Forecast) Divide(slots []Slot, from, to wire.Instant) {
	backlog := Backlog{Waiting: float64(f.Overdue), Now: f.CountedAt}
	if f.CallbacksPerSecond != nil {
		backlog.Rate = *f.CallbacksPerSecond
	}
	f.Steps = []Step{}
	n := 0
	for ; n < len(slots) && slots[n].At < from; n++ {
		backlog.Pass(slots[n])
	}
	for at := from; at < to; at = at.Add(f.Step.D()) {
		step, items := Step{At: at}, 0.0
		for ; n < len(slots) && slots[n].At < at.Add(f.Step.D()); n++ {
			late, sent := backlog.Pass(slots[n])
			if f.CallbacksPerSecond == nil {
				sent = slots[n].Items * slots[n].Width.Seconds()
			}
			step.Due, items = step.Due+slots[n].Due, items+sent
			step.Lateness = max(step.Lateness, wire.Duration(late))
		}
		step.DispatchItems = int(math.Round(items))
		step.Overflows = step.Due > 0 && backlog.Rate > 0 && backlog.Waiting >= backlog.Rate
		f.Steps = append(f.Steps, step)
	}
}
