package timer

import "github.com/wakecall/wakecall/core/wire"

// Debounce is the state of a timer whose ring each PUT postpones. It counts from the first PUT.
type Debounce struct {
	// First and Last are the times of the first and the last PUT, by the clocks of gateways.
	First   wire.Instant  `json:"first"`
	Last    wire.Instant  `json:"last"`
	MaxWait wire.Duration `json:"max_wait"`
}

// RingBy returns the latest time of the ring, for any number of PUTs; zero for a timer without
// debounce.
func (d *Debounce) RingBy() wire.Instant {
	if d == nil {
		return 0
	}
	return d.First.Add(d.MaxWait.D())
}

// debounced returns the debounce and the due time after a change that moves the ring to due.
// Changes take effect in Temporal's order, even if gateway clocks disagree. A ring that has
// begun ends the wait, and a later change begins a new one.
func debounced(m Memo, change Change, due wire.Instant) (*Debounce, wire.Instant) {
	if change.Terms.MaxWait == nil || change.Terms.Delay == nil {
		return nil, due
	}
	d, earliest := Debounce{First: change.At, Last: change.At, MaxWait: *change.Terms.MaxWait}, wire.Instant(0)
	if m.Debounce != nil && !change.Interrupts {
		d.First, d.Last = min(m.Debounce.First, d.First), max(m.Debounce.Last, d.Last)
		// A shorter wait may have passed already. The timer then rings now, not at an unintended
		// time in the past. A late timer keeps its due time.
		earliest = min(m.DueAt, d.Last)
	}
	return &d, max(min(d.Last.Add(change.Terms.Delay.D()), d.RingBy()), earliest)
}

func (t Terms) checkDebounce() (errs wire.FieldErrors) {
	if t.MaxWait == nil {
		return nil
	}
	if t.Delay == nil {
		errs.AddBeside("/max_wait", wire.CodeConflict, "is allowed only with delay", "/delay")
	}
	wire.EnforceGiven(&errs, fieldMaxWait, t.MaxWait)
	return errs
}
