package timer

import "github.com/wakecall/wakecall/core/wire"

// Debounce is where a timer stands whose ring is pushed out again and again. It counts
// from the first time that it was put.
type Debounce struct {
	// First and Last are when it was put first and last, by the clocks of gateways.
	First   wire.Instant  `json:"first"`
	Last    wire.Instant  `json:"last"`
	MaxWait wire.Duration `json:"max_wait"`
}

// RingBy is when the timer rings at the latest, however often it is pushed out; zero
// for a timer that is not debounced.
func (d *Debounce) RingBy() wire.Instant {
	if d == nil {
		return 0
	}
	return d.First.Add(d.MaxWait.D())
}

// debounced is when a timer rings that a change makes due. Changes take effect in the
// order in which Temporal has them, also where the clocks of gateways see another one. A
// ring that has begun ends the wait, and a change that comes then begins a new one.
func debounced(m Memo, change Change, due wire.Instant) (*Debounce, wire.Instant) {
	if change.Terms.MaxWait == nil || change.Terms.Delay == nil {
		return nil, due
	}
	d, earliest := Debounce{First: change.At, Last: change.At, MaxWait: *change.Terms.MaxWait}, wire.Instant(0)
	if m.Debounce != nil && !change.Interrupts {
		d.First, d.Last = min(m.Debounce.First, d.First), max(m.Debounce.Last, d.Last)
		// A shorter wait may have passed already: the timer rings now, and not at a time in
		// the past that nobody chose. One that is late keeps its due time.
		earliest = min(m.DueAt, d.Last)
	}
	return &d, max(min(d.Last.Add(change.Terms.Delay.D()), d.RingBy()), earliest)
}

func (t Terms) checkDebounce() (errs wire.FieldErrors) {
	if t.MaxWait == nil {
		return nil
	}
	if t.Delay == nil {
		errs.Add("/max_wait", wire.CodeConflict, "goes with delay")
	}
	wire.EnforceGiven(&errs, fieldMaxWait, t.MaxWait)
	return errs
}
