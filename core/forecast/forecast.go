package forecast

import (
	"math"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// HeaderExpectedLateness names, in the answer to a booking, how late the timer will
// probably be by what else falls due by then.
const HeaderExpectedLateness = "Wakecall-Expected-Lateness"

// Forecast is how many timers of a business type fall due in the time ahead.
type Forecast struct {
	BusinessType string       `json:"business_type"`
	CountedAt    wire.Instant `json:"counted_at"`
	// CallbacksPerSecond is the rate in force; nil for no limit.
	CallbacksPerSecond *float64 `json:"callbacks_per_second,omitempty"`
	// Overdue are the open timers that fell due within the last day. They go first.
	Overdue int           `json:"overdue"`
	Step    wire.Duration `json:"step"`
	Steps   []Step        `json:"steps"`
}

// Step is one step of a forecast, from At on.
type Step struct {
	At  wire.Instant `json:"at"`
	Due int          `json:"due"`
	// DispatchItems is how many items dispatches of the type send in it.
	DispatchItems int `json:"dispatch_items,omitzero"`
	// Overflows reports whether more is to be called in it, with what is left from before, than
	// the limit lets through.
	Overflows bool `json:"overflows,omitzero"`
	// Lateness is that of its last timer, in whole seconds.
	Lateness wire.Duration `json:"lateness,omitzero"`
}

// Slot is a stretch of time, and how many timers fall due in it.
type Slot struct {
	At    wire.Instant
	Width time.Duration
	Due   int
	// Items is how many items a second dispatches send in it on average, were each of them
	// the only one.
	Items float64
}

// End is the first moment after the slot.
func (s Slot) End() wire.Instant { return s.At.Add(s.Width) }

// Backlog is what waits for its turn in slots that follow one another, where so many are
// called in a second, less what dispatches have of it. Timers of one slot are taken to be
// spread over it evenly.
type Backlog struct {
	Rate    float64
	Waiting float64
	// Now is when it begins.
	Now wire.Instant
}

// Pass goes through a slot, and returns by how much the last timer of it is late.
func (b *Backlog) Pass(slot Slot) time.Duration {
	width := slot.End().Time().Sub(max(slot.At, b.Now).Time())
	if b.Rate <= 0 || width <= 0 {
		return 0
	}
	before, rate := b.Waiting, b.Rate-min(slot.Items, policy.DispatchShare(b.Rate))
	b.Waiting = max(before+float64(slot.Due)-rate*width.Seconds(), 0)
	if slot.Due == 0 {
		return 0
	}
	return late(max(before, b.Waiting), rate)
}

// late is how long it takes to call what waits.
func late(waiting, rate float64) time.Duration {
	return wire.Estimate(waiting, rate).Truncate(time.Second)
}

// Divide sums slots up to steps, with the lateness that follows from the rate; nil for no
// limit. The slots follow one another, and no step ends within one.
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
			step.Due += slots[n].Due
			step.Lateness = max(step.Lateness, wire.Duration(backlog.Pass(slots[n])))
			items += f.items(slots[n])
		}
		step.DispatchItems = int(math.Round(items))
		step.Overflows = step.Due > 0 && backlog.Rate > 0 && backlog.Waiting >= backlog.Rate
		f.Steps = append(f.Steps, step)
	}
}

// items is how many items dispatches send in a slot.
func (f *Forecast) items(slot Slot) float64 {
	perSecond := slot.Items
	if f.CallbacksPerSecond != nil {
		perSecond = min(perSecond, policy.DispatchShare(*f.CallbacksPerSecond))
	}
	return perSecond * slot.Width.Seconds()
}
